import { colours } from '../colours.ts';

/** A colour of the palette of workbooks as the preview draws it; grey for one that is not used. */
export const hexOf = (workbook: string): string =>
  Object.values(colours).find((colour) => colour.workbook === workbook)?.hex ?? '#b9b9b9';

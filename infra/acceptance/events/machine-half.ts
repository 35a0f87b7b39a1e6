import type { Target } from '../target.ts';

/** The part of a target that acts on VMs. */
export type MachineHalf = Pick<
  Target,
  'machines' | 'request' | 'startRecording' | 'readRecording' | 'stopRecording' | 'approve' | 'runBridge' | 'close'
>;

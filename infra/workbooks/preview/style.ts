/** How the page looks. */
export const style = `
:root { --ink: #1f2937; --soft: #6b7280; --line: #e5e7eb; --act: #c4314b; --watch: #d98a00; --fine: #4c9a5b; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f5f7; color: var(--ink); font: 14px/1.45 "Segoe UI", Inter, Helvetica, Arial, sans-serif; }
header, main { max-width: 1440px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 28px; }
h1 { margin: 0; font-size: 26px; font-weight: 650; letter-spacing: -.01em; }
header p { margin: 2px 0 14px; color: var(--soft); }
nav { display: flex; gap: 22px; border-bottom: 1px solid var(--line); padding-bottom: 10px; }
nav a { color: #0f5ea8; text-decoration: none; font-weight: 550; }
h2 { margin: 34px 0 12px; font-size: 18px; font-weight: 650; }
.cards { display: grid; grid-template-columns: repeat(100, 1fr); row-gap: 16px; margin: 0 -8px; }
article { grid-column: span var(--width); margin: 0 8px; min-width: 0; background: #fff; border: 1px solid var(--line);
  border-radius: 10px; padding: 14px 18px 16px; }
h3 { margin: 0 0 10px; font-size: 14px; font-weight: 600; }
svg { display: block; max-width: 100%; height: auto; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; }
.tile { border: 1px solid var(--line); border-top: 3px solid var(--line); border-radius: 8px; padding: 10px 14px 12px; }
.tile h4 { margin: 0; font-size: 13px; font-weight: 600; color: var(--soft); }
.tile b { display: block; font-size: 34px; font-weight: 650; line-height: 1.2; }
.tile p { margin: 0; font-size: 12px; color: var(--soft); }
.tile.act { border-top-color: var(--act); } .tile.act b { color: var(--act); }
.tile.watch { border-top-color: var(--watch); } .tile.watch b { color: var(--watch); }
.tile.fine { border-top-color: var(--fine); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; font-weight: 600; color: var(--soft); white-space: nowrap; }
th, td { padding: 6px 14px 6px 0; border-bottom: 1px solid #f0f1f3; }
td { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.text { display: inline-block; max-width: 300px; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.nothing { color: #c3c7ce; }
td a { color: #0f5ea8; }
.bar { display: inline-flex; align-items: center; gap: 8px; justify-content: flex-end; }
.bar i { height: 10px; border-radius: 3px; background: #8db7e2; display: inline-block; }
.parts { display: flex; width: 460px; height: 12px; border-radius: 3px; overflow: hidden; }
.parts i { display: block; height: 100%; }
.tag { border-radius: 4px; padding: 1px 7px; color: #fff; font-weight: 550; }
.heat { display: inline-block; min-width: 36px; border-radius: 4px; padding: 0 5px; }
.dense th, .dense td { padding-right: 3px; }
.sign { display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 7px; background: #c3c7ce; }
.sign.act { background: var(--act); } .sign.watch { background: var(--watch); } .sign.fine { background: var(--fine); }
.more, .empty { margin: 8px 0 0; color: var(--soft); font-size: 12px; }
.empty { padding: 24px 0; text-align: center; font-size: 13px; }
`;

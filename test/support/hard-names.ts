/** File names that are invalid or dangerous on some system, and the rules for a name that is safe everywhere. */
import type { Seeded } from './seeded.ts'

const pieces = [
  ...['a', 'Rechnung', 'ü', 'u\u0308', '日本語', 'ملف', 'תשבץ', '😀', '👩‍👩‍👧', '\u{1f1e8}\u{1f1ed}', '❤️', 'x\u0323\u0304', '\u0301'],
  ...['.', '..', '.pdf', '.txt', '.tar.gz', '.exe', ' ', '   ', '\u00a0', '\u3000', '\t', '/', '\\', 'C:\\', '../', '~', '-', '_'],
  ...['\r\n', '\n', '\0', '\u001b', '\u007f', '\u0085', '\u2028', '\u202e', '\u2066', '\u2069', '\u200e', '\u061c', '\u200b', '\ufeff'],
  ...['"', "'", '\\"', ';', ',', '=', '%', '%0d%0a', "utf-8''", '*', '?', '<', '>', ':', '|', '=?utf-8?Q?a?=', '(', ')', '@', '&'],
  ...['CON', 'nul', 'COM1', 'LPT³', '\ud800', '\udc00', '\uffff', 'attachment', ' (2)', 'x'.repeat(60), '語'.repeat(60), 'filename*0*='],
]

/** Returns a name of up to twelve random `pieces`; rarely an empty name. */
export function hardName(chance: Seeded): string {
  let name = ''
  for (let left = chance.between(0, 12); left > 0; left--) name += chance.pick(pieces)
  return name
}

/** Returns whether a name is safe on every system and in every header. Written independently of the rules under test. */
export function isHarmless(name: string): boolean {
  const stem = (name.split('.')[0] ?? '').trimEnd().toUpperCase()
  const devices = ['CON', 'PRN', 'AUX', 'NUL', 'CONIN$', 'CONOUT$']
  return (
    name !== '' &&
    Buffer.byteLength(name) <= 255 &&
    name.isWellFormed() &&
    name === name.normalize('NFC') &&
    ![...name].some((char) => '/\\<>:"|?*'.includes(char) || char < ' ' || /[\u007f-\u009f\u00ad\u061c]/.test(char)) &&
    !/[\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff]/.test(name) &&
    !/^[. ]|[. ]$|\s\s/.test(name) &&
    !devices.includes(stem) &&
    !/^(?:COM|LPT)[0-9¹²³]$/.test(stem)
  )
}

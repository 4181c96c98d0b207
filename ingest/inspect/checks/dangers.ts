/** Attachments of kinds that receivers refuse: programs, documents with macros, and archives that scanners cannot read. */
import type { Attachment } from '../facts/parsed-mail.ts'
import type { Finding } from './verdict.ts'
import { archivedFiles } from '../facts/zip-directory.ts'
import { say } from '../sentences/say.ts'

const programs = /\.(?:exe|scr|js|vbs|jar|lnk|iso|img|bat|cmd|ps1|hta|msi|com|pif|vbe|jse|wsf|cpl)[\s.]*$/i
const macros = /\.(?:docm|dotm|xlsm|xltm|xlam|xlsb|pptm|potm|ppam|ppsm|sldm)[\s.]*$/i

type Danger = 'program' | 'macros' | 'encrypted'

export function dangersOf({ filename, octets }: Attachment): Finding[] {
  const found = (danger: Danger): Finding[] => [
    { text: filename === '' ? say(`nameless_${danger}`) : say(`file_${danger}`, { name: filename }), fix: say('fix_file') },
  ]
  if (programs.test(filename) || octets.subarray(0, 2).toString('latin1') === 'MZ') return found('program')
  const files = archivedFiles(octets)
  if (macros.test(filename) || files.some((file) => /(?:^|\/)vbaProject\.bin$/i.test(file.name))) return found('macros')
  return files.some(({ isEncrypted }) => isEncrypted) || isLocked(octets) ? found('encrypted') : []
}

const rar4 = Buffer.from('Rar!\u001a\u0007\0')
const rar5 = Buffer.from('Rar!\u001a\u0007\u0001\0')
const sevenZip = Buffer.of(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c)
/** The method ID of AES in the list of methods, which is at the end of the archive. */
const sevenZipAes = Buffer.of(6, 0xf1, 7, 1)
const maxMethods = 64 * 1024

/** Reports whether a RAR or 7z archive needs a password. Detects encryption only if the first headers show it. */
function isLocked(octets: Buffer): boolean {
  if (octets.subarray(0, 6).equals(sevenZip)) return octets.subarray(-maxMethods).includes(sevenZipAes)
  // the type of the first header: an encryption header, which encrypts all later headers
  if (octets.subarray(0, 8).equals(rar5)) return octets[13] === 4
  if (!octets.subarray(0, 7).equals(rar4) || octets.length < 14) return false
  const first = 7 + octets.readUInt16LE(12)
  const isFileLocked = octets[first + 2] === 0x74 && ((octets[first + 3] ?? 0) & 4) !== 0
  return ((octets[10] ?? 0) & 0x80) !== 0 || isFileLocked
}

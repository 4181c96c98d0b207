/** A small valid file of each kind that forms accept. */
import type { FileKind } from '#core/forms/uploads/file-kinds.ts'

const base64 = (text: string): Buffer => Buffer.from(text, 'base64')

export const samples: Readonly<Record<FileKind, Buffer>> = {
  png: base64('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  gif: base64('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'),
  webp: base64('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'),
  jpeg: base64(
    '/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAARCAABAAEDASIAAhEBAxEB' +
      '/8QAFQABAQAAAAAAAAAAAAAAAAAAAAn/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AKgAAA//2Q==',
  ),
  pdf: pdfWith(Buffer.from('BT /F1 12 Tf 20 20 Td (Hello) Tj ET')),
}

/** Returns a PDF with these octets in the stream of its page. */
export function pdfWith(content: Buffer): Buffer {
  const head = Buffer.from(
    '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n' +
      '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R>>endobj\n' +
      `4 0 obj<</Length ${String(content.length)}>>stream\n`,
  )
  return Buffer.concat([head, content, Buffer.from('\nendstream endobj\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n')])
}

/** Returns a PNG of about the given size, with one chunk of filler. */
export function largePng(octets: number): Buffer {
  const { png } = samples
  const chunk = Buffer.alloc(octets - png.length)
  chunk.writeUInt32BE(chunk.length - 12, 0)
  chunk.write('teXt', 4, 'latin1')
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)])
}

/** A ZIP archive without entries. */
export const emptyZip = Buffer.concat([Buffer.from('PK\x05\x06', 'latin1'), Buffer.alloc(18)])

/** The EICAR test file in two halves, so that scanners ignore this source file. */
export const testVirus = Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''), 'latin1')

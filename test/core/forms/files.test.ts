/** Detection of file types by content: accepted kinds, and files that only look like one. */
import test from '#test'
import { FileCheck, type FileFinding } from '#core/forms/uploads/file-check.ts'
import { fileName, type FileKind } from '#core/forms/uploads/file-kinds.ts'
import { TestVirusSearch } from '#core/forms/uploads/test-virus.ts'
import { Seeded } from '../../support/seeded.ts'
import { emptyZip, largePng, pdfWith, samples, testVirus } from './file-samples.ts'

const kinds = Object.keys(samples) as FileKind[]

function check(file: Buffer, piece = file.length || 1): FileFinding {
  const checking = new FileCheck()
  for (let at = 0; at < file.length; at += piece) checking.write(file.subarray(at, at + piece))
  return checking.end()
}

const outcome = (file: Buffer, piece?: number): string => {
  const found = check(file, piece)
  return 'kind' in found ? found.kind : found.fault.code
}

test('each kind is detected, with its octets in pieces of any size', (t) => {
  for (const kind of kinds) for (const piece of [1, 2, 3, 7, 16, 17, 1000]) t.is(outcome(samples[kind], piece), kind, `${kind} in ${piece}`)
  t.is(outcome(largePng(300_000), 65_536), 'png')
})

test('a file cut at any place is damaged, and never accepted as complete', (t) => {
  for (const kind of kinds)
    for (let length = 0; length < samples[kind].length - (kind === 'pdf' ? 6 : 0); length++) {
      const found = outcome(samples[kind].subarray(0, length), 5)
      t.true(found === 'file_damaged' || (found === 'file_type_not_allowed' && length < 16), `${kind} of ${length}: ${found}`)
    }
})

test('other content is refused, regardless of its first octets', (t) => {
  const { png, gif, jpeg, webp, pdf } = samples
  const others: Readonly<Record<string, Buffer>> = {
    empty: Buffer.alloc(0),
    svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
    html: Buffer.from('<!doctype html><script>alert(1)</script>'),
    zip: emptyZip,
    program: Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100)]),
    bmp: Buffer.concat([Buffer.from('BM'), Buffer.alloc(100)]),
    'zip behind png': Buffer.concat([png, emptyZip]),
    'zip behind jpeg': Buffer.concat([jpeg, emptyZip]),
    'zip with a comment behind pdf': Buffer.concat([pdf, emptyZip.subarray(0, 20), Buffer.from([7, 0]), Buffer.from('\n%%EOF\n')]),
    'pdf in a gif': Buffer.concat([gif.subarray(0, 19), Buffer.from('\x21\xfe\x09%PDF-1.4\n\0', 'latin1'), gif.subarray(19)]),
    'page in a gif': Buffer.concat([gif.subarray(0, 19), Buffer.from('\x21\xfe\x08<script>\0', 'latin1'), gif.subarray(19)]),
    'program behind gif': Buffer.concat([gif, Buffer.from('#!/bin/sh')]),
    'png behind png': Buffer.concat([png, png]),
    'longer than its riff': Buffer.concat([webp, Buffer.from('more')]),
  }
  for (const [what, file] of Object.entries(others)) t.is(outcome(file, 11), 'file_type_not_allowed', what)
  t.is(outcome(Buffer.concat([jpeg, Buffer.from('a film of a camera')])), 'jpeg')
  t.is(outcome(Buffer.concat([gif, Buffer.alloc(3)])), 'gif')
  const wide = Buffer.from(png)
  wide.writeUInt32BE(0, 16)
  t.is(outcome(wide), 'file_damaged', 'the width is missing')
})

test('damaged files never break the check, and the size of pieces has no effect', (t) => {
  const random = new Seeded(17)
  for (let round = 0; round < 3000; round++) {
    const kind = kinds[random.between(0, kinds.length - 1)] ?? 'png'
    const file = Buffer.from(samples[kind])
    for (let change = random.between(1, 4); change > 0; change--) file[random.between(0, file.length - 1)] = random.between(0, 255)
    t.is(outcome(file, random.between(1, 40)), outcome(file), file.toString('base64'))
  }
  t.notThrows(() => check(Buffer.alloc(1_000_000, 0xff), 65_536))
})

test('file names stay, with the extension of the detected type', (t) => {
  const names: readonly [string, FileKind, string][] = [
    ['photo.JPG', 'jpeg', 'photo.JPG'],
    ['photo.jpg', 'png', 'photo.png'],
    ['setup.exe', 'png', 'setup.exe.png'],
    ['../../etc/passwd', 'pdf', 'passwd.pdf'],
    ['C:\\temp\\Grüße.pdf', 'pdf', 'Grüße.pdf'],
    ['', 'gif', 'attachment.gif'],
    ['\u202egnp.exe', 'png', 'gnp.exe.png'],
  ]
  for (const [given, kind, name] of names) t.is(fileName(given, kind), name)
  t.true(fileName(`${'ä'.repeat(500)}.pdf`, 'pdf').endsWith('.pdf'))
})

test('the check finds the test virus at any position, with pieces of any size', (t) => {
  const file = pdfWith(Buffer.concat([Buffer.alloc(50, 'a'), testVirus]))
  for (let piece = 1; piece <= file.length; piece++) {
    const search = new TestVirusSearch()
    for (let at = 0; at < file.length; at += piece) search.write(file.subarray(at, at + piece))
    t.true(search.isFound, String(piece))
  }
  const clean = new TestVirusSearch()
  clean.write(samples.pdf)
  t.false(clean.isFound)
})

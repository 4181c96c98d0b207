/** Headers and delimiter lines built to cost time. */
import test from '#test'
import { WholeDelimiters } from '#ingest/mime/engine/whole-delimiters.ts'
import { withWholeHeads } from '#ingest/mime/engine/whole-heads.ts'
import { growsLinearly } from '../../../support/measure/growth.ts'

test('WholeDelimiters and withWholeHeads() take time in proportion to the input', (t) => {
  const nested = Array.from({ length: 500 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`).join('')
  const parameters = `Content-Type: multipart/mixed; ${'a="\\'.repeat(50_000)}; boundary=b0\r\n\r\n`
  const units = [
    '--',
    '--\n',
    '--b \n',
    '--b0 \n',
    '--b499 \n',
    '--b499-- \n',
    '\n--',
    `--${'x'.repeat(900)}\n`,
    'a="',
    '\n\n',
    '; a=',
    '; boundary=',
    ';  ',
    'x\n',
    'x: y\n',
    '\r',
    '\r\r\n',
    'x\r\r',
  ]
  for (const head of [nested, parameters, 'Content-Type: multipart/mixed; ', 'Content-Type: text/html; '])
    for (const unit of units) {
      const run = (size: number): void => {
        const { octets } = withWholeHeads(Buffer.concat([Buffer.from(head), Buffer.alloc(size, unit)]))
        const pass = new WholeDelimiters(octets)
        for (const piece of pass.pieces()) t.true(piece.length >= 0)
      }
      t.true(growsLinearly(run, 200_000), JSON.stringify(unit))
    }
})

/** Headers that are too expensive to verify, and the processor time of permitted headers. */
import test from '#test'
import { authenticateMail } from '#ingest/authentication/mail-authentication.ts'
import { excessOf, maxHeadLines } from '#ingest/authentication/verifiable-head.ts'

const excess = (text: string, maxOctets = 262_144) => excessOf(Buffer.from(text, 'latin1'), { maxOctets })

test('excessOf(): reports headers with too many octets or lines only', (t) => {
  for (const end of ['\r\n', '\n']) {
    t.is(excess(`A: b${end}`.repeat(maxHeadLines) + end + `x${end}`.repeat(9000)), undefined)
    t.is(excess(`A: b${end}`.repeat(maxHeadLines)), undefined, 'no body')
    t.is(excess(`A: b${end}`.repeat(maxHeadLines + 1) + end), 'lines')
    t.is(excess(`A: b${end} c${end}${end}${'x'.repeat(100)}`, 50), undefined)
    t.is(excess(`A: ${'b'.repeat(50)}${end}${end}x`, 50), 'octets')
  }
  t.is(excess('x'.repeat(51), 50), 'octets')
  t.is(excess('x'.repeat(50), 50), undefined)
  t.is(excess(''), undefined)
})

test('verification: a header within the limits costs bounded processor time', async (t) => {
  const resolve = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))
  const session = { mailFrom: 'a@b.test', remoteAddress: '192.0.2.1', helo: 'mx.b.test' }
  for (const unit of ['\r\n y', '\n ', '\nx', '\r\n((((', '\r\na:b']) {
    const raw = Buffer.from(`From: a@b.test\r\nSubject: x${unit.repeat(Math.floor(262_000 / unit.length))}\r\n\r\nx\r\n`)
    const before = process.threadCpuUsage()
    await authenticateMail({ raw, ...session }, 'mx.site.test', resolve)
    const { user, system } = process.threadCpuUsage(before)
    t.true((user + system) / 1000 < 500, `${JSON.stringify(unit)} cost ${String((user + system) / 1000)} ms`)
  }
})

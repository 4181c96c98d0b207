/** Dates in the forms of real mail clients. */
import test from '#test'
import { mailDate } from '#ingest/mime/mail-date.ts'

const noon = '2026-11-21T12:00:00.000Z'
const dates: readonly (readonly [given: string, expected: string | undefined])[] = [
  ['Sat, 21 Nov 2026 12:00:00 +0000', noon],
  ['Sat, 21 Nov 2026 12:00 GMT', noon],
  ['21 Nov 26 07:00:00 EST (Eastern (US))', noon],
  ['Sat, 21 Nov 2026 13:00:00 +0100 (CET)', noon],
  ['Sat, 21 Nov 2026 12:00:00 CET', noon],
  ['Sat, 21 Nov 2026 12:00:00 (MESZ)', noon],
  ['Sat, 21 Nov 2026 12:00:00', noon],
  ['Sat, 21 Nov 2026\t12:00:00 -0000', noon],
  ['Sat Nov 21 12:00:00 2026', noon],
  ['11/21/2026 12:00:00 PM', noon],
  ['2026-11-21T12:00:00Z', noon],
  ['2026-11-21T13:00:00+01:00', noon],
  ['tomorrow', undefined],
  ['', undefined],
  [`Sat, 21 Nov 2026 12:00:00${' '.repeat(300)}x`, noon],
  ['('.repeat(100_000), undefined],
]

for (const [given, expected] of dates)
  test(`mailDate() reads ${JSON.stringify(given.slice(0, 60))}`, (t) => t.is(mailDate(given), expected))

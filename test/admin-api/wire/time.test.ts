import test from '#test'
import { timeInput, toWireTime, wireTime } from '../../../admin-api/wire/fields/time.ts'

test('toWireTime() writes UTC with milliseconds, as wireTime declares it', (t) => {
  t.is(toWireTime(Date.UTC(2026, 10, 21, 13, 0, 0, 5)), '2026-11-21T13:00:00.005Z')
  t.true(wireTime.safeParse(toWireTime(0)).success)
  t.false(wireTime.safeParse('2026-11-21T13:00:00+01:00').success)
})

test('timeInput accepts any offset and returns milliseconds', (t) => {
  t.is(timeInput.parse('2026-11-21T14:00:00+01:00'), Date.UTC(2026, 10, 21, 13))
  t.false(timeInput.safeParse('2026-11-21').success)
  t.false(timeInput.safeParse('2026-02-30T00:00:00Z').success)
})

/** The pure parts of diagnoses: windows, similar addresses, queue ids, and equality of replies. */
import test from '#test'
import { nearness } from '#core/diagnose/missing/near-misses.ts'
import { isQueueIdIn, queueIdForms, queueIdIn } from '#core/diagnose/search/queue-id.ts'
import { fingerprint } from '#core/diagnose/search/related-refusals.ts'
import { readWindow } from '#core/diagnose/search/time-window.ts'

test('readWindow() accepts durations before now and two times, and names errors', (t) => {
  const now = Date.UTC(2026, 10, 21, 12)
  const hours = (from: number, to = 0) => ({ from: now - from * 3_600_000, to: now - to * 3_600_000 })
  const faultOf = (text: string): string => {
    const read = readWindow(text, now)
    return typeof read === 'string' ? read : 'nothing'
  }
  t.deepEqual(readWindow(undefined, now), hours(24))
  t.deepEqual(readWindow('24h', now), hours(24))
  t.deepEqual(readWindow('7d', now), hours(168))
  t.deepEqual(readWindow('90m', now), hours(1.5))
  t.deepEqual(readWindow('2026-11-21T08:00:00Z/2026-11-21T10:00:00.5+01:00', now), {
    from: now - 4 * 3_600_000,
    to: now - 3 * 3_600_000 + 500,
  })
  t.deepEqual(readWindow('2026-11-21T08:00Z/2099-01-01T00:00:00Z', now), hours(4), 'a future end is cut to now')
  for (const text of [
    '',
    '0h',
    '-1h',
    '1w',
    '24',
    'h',
    '1.5h',
    '2026-11-21/2026-11-22',
    '2026-11-21T08:00:00/2026-11-21T09:00:00',
    '/',
    'a/b',
  ])
    t.regex(faultOf(text), /^must be a duration/, text)
  for (const text of ['2026-11-21T10:00:00Z/2026-11-21T10:00:00Z', '2026-11-22T08:00:00Z/2026-11-23T08:00:00Z'])
    t.regex(faultOf(text), /^must start in the past/, text)
})

test('nearness() distinguishes typing errors from other people', (t) => {
  const near = (other: string) => nearness('ada.lovelace@gmail.com', other)
  t.is(near('ada.lovelace+shop@gmail.com'), 0)
  t.is(nearness('ada+a@gmail.com', 'ada+b@gmail.com'), 0)
  t.is(near('ada.lovelace@gmial.com'), 1)
  t.is(near('ada.lovelase@gmail.com'), 1)
  t.is(near('ada.lvelase@gmail.com'), 2)
  t.is(near('ada.lovelace@gmail.com'), undefined, 'the same address is not a near miss')
  t.is(near('ada.lovelase@gmial.com'), undefined, 'typing errors in both parts')
  t.is(near('ada.lovelace@example.com'), undefined)
  t.is(nearness('ada@example.ch', 'eda@example.ch'), undefined, 'short names of two different people')
  t.is(nearness('ada@example.ch', 'ada@exmaple.ch'), 1)
  t.is(nearness('a@b.ch', 'a@cd.ch'), undefined, 'two changes of a short address')
})

test('queueIdIn() finds queue ids in replies in the formats of hosts', (t) => {
  const replies: readonly (readonly [string, string | undefined])[] = [
    ['Ok: queued as 4bXyZ91Qwz', '4bXyZ91Qwz'],
    ['OK id=1tXyZ0-000000012ab-3cDe', '1tXyZ0-000000012ab-3cDe'],
    ['Message queued with id 1a2b3c4d5e6f', '1a2b3c4d5e6f'],
    ['Ok 0102018f-1-000000', undefined],
    ['Accepted as <0102018f@eu.example>.', '0102018f@eu.example'],
    ['Queued mail for delivery', undefined],
    ['thanks', undefined],
  ]
  for (const [reply, id] of replies) t.is(queueIdIn(reply), id, reply)
  t.true(isQueueIdIn('Ok: queued as 4bXyZ91Qwz', queueIdForms('4bxyz91qwz')))
  t.true(isQueueIdIn('Message queued with id 16345785d8a0001', queueIdForms('100000000000000001')), 'the decimal form of a log')
  for (const word of ['queued', 'Ok', '4bXyZ', '4bXyZ91', 'x y9z8x7', '9'.repeat(200)])
    t.false(isQueueIdIn('Ok: queued as 4bXyZ91Qwz', queueIdForms(word)), word)
})

test('fingerprint() omits the parts that differ between messages', (t) => {
  const one = fingerprint('<ada@a.ch>: Recipient rejected, see https://a.ch/x?1 (in queue 4bXyZ91)')
  t.is(fingerprint('<eva@b.ch>: Recipient  rejected, see https://a.ch/x?2 (in queue 9cXyZ33)'), one)
  t.not(fingerprint('<eva@b.ch>: Sender rejected, see https://a.ch/x?2 (in queue 9cXyZ33)'), one)
})

/** The pure parts of diagnoses: windows, typing mistakes, queue ids, and what makes two replies the same. */
import test from 'ava'
import { editDistance } from '#core/diagnose/missing/edit-distance.ts'
import { nearness } from '#core/diagnose/missing/near-misses.ts'
import { isQueueIdIn, queueIdForms, queueIdIn } from '#core/diagnose/search/queue-id.ts'
import { fingerprint } from '#core/diagnose/search/related.ts'
import { readWindow } from '#core/diagnose/search/window.ts'
import { Seeded } from '../../support/seeded.ts'

test('readWindow() takes durations back from now and two times, and says what is wrong otherwise', (t) => {
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
  t.deepEqual(readWindow('2026-11-21T08:00Z/2099-01-01T00:00:00Z', now), hours(4), 'the future is cut')
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
    t.regex(faultOf(text), /^must begin before it ends/, text)
})

test('editDistance() counts insertions, deletions, changes and swaps up to its limit', (t) => {
  const rows: readonly (readonly [string, string, number | undefined])[] = [
    ['gmail.com', 'gmail.com', 0],
    ['gmail.com', 'gmial.com', 1],
    ['gmail.com', 'gmal.com', 1],
    ['gmail.com', 'gmaill.com', 1],
    ['gmail.com', 'gnail.com', 1],
    ['gmail.com', 'gmail.co', 1],
    ['gmail.com', 'gmial.co', 2],
    ['gmail.com', 'hotmail.com', undefined],
    ['a', 'ab', 1],
    ['', 'ab', 2],
    ['', 'abc', undefined],
    ['abcd', 'badc', 2],
  ]
  for (const [a, b, distance] of rows) {
    t.is(editDistance(a, b, 2), distance, `${a} ${b}`)
    t.is(editDistance(b, a, 2), distance, `${b} ${a}`)
  }
})

test('editDistance() agrees with the whole table of distances', (t) => {
  const random = new Seeded(7)
  const word = () => Array.from({ length: Math.floor(random.fraction() * 8) }, () => 'abc'[Math.floor(random.fraction() * 3)]).join('')
  for (let i = 0; i < 3000; i++) {
    const [a, b] = [word(), word()]
    const whole = wholeDistance(a, b)
    t.is(editDistance(a, b, 2), whole <= 2 ? whole : undefined, `${a} ${b}`)
  }
})

/** The textbook: every cell, no band. */
function wholeDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  )
  const at = (i: number, j: number): number => table[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity
      const row = table[i]
      if (row) row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1), swap)
    }
  return at(a.length, b.length)
}

test('nearness() tells mistakes from other people', (t) => {
  const near = (other: string) => nearness('ada.lovelace@gmail.com', other)
  t.is(near('ada.lovelace+shop@gmail.com'), 0)
  t.is(nearness('ada+a@gmail.com', 'ada+b@gmail.com'), 0)
  t.is(near('ada.lovelace@gmial.com'), 1)
  t.is(near('ada.lovelase@gmail.com'), 1)
  t.is(near('ada.lvelase@gmail.com'), 2)
  t.is(near('ada.lovelace@gmail.com'), undefined, 'the same is no miss')
  t.is(near('ada.lovelase@gmial.com'), undefined, 'mistakes in both halves')
  t.is(near('ada.lovelace@example.com'), undefined)
  t.is(nearness('ada@example.ch', 'eda@example.ch'), undefined, 'short names of two people')
  t.is(nearness('ada@example.ch', 'ada@exmaple.ch'), 1)
  t.is(nearness('a@b.ch', 'a@cd.ch'), undefined, 'two changes of a short address')
})

test('queue ids are found in replies as hosts give them', (t) => {
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

test('fingerprint() leaves out what differs from message to message', (t) => {
  const one = fingerprint('<ada@a.ch>: Recipient rejected, see https://a.ch/x?1 (in queue 4bXyZ91)')
  t.is(fingerprint('<eva@b.ch>: Recipient  rejected, see https://a.ch/x?2 (in queue 9cXyZ33)'), one)
  t.not(fingerprint('<eva@b.ch>: Sender rejected, see https://a.ch/x?2 (in queue 9cXyZ33)'), one)
})

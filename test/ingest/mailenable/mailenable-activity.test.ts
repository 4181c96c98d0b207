/** MailEnable's activity log: recognition of deliveries, their owner, and IDs that do not depend on the batches. */
import { createHash } from 'node:crypto'
import test from '#test'
import { readActivityEnvelope, type ActivityDelivery, type ActivitySession } from '#ingest/mailenable/mailenable-activity.ts'
import { readActivityLine } from '#ingest/mailenable/mailenable-line.ts'
import { Seeded } from '../../support/seeded.ts'
import { activityLine, endOfData, mailFrom, rcptTo, type Told } from './activity-lines.ts'
import { readable } from '../logs/log-reading.ts'
import { column, columns } from '../../support/column.ts'

type Line = string | { readonly offset: number; readonly line: string }

const envelope = (lines: readonly unknown[], fields: object = {}) =>
  Buffer.from(JSON.stringify({ version: 1, time_zone: 'UTC', lines, ...fields }))
const read = (lines: readonly unknown[], fields: object = {}, known: ReadonlyMap<string, ActivitySession> = new Map()) =>
  readable(readActivityEnvelope(envelope(lines, fields), 'bsc_1')).read(known)
const recipients = (lines: readonly unknown[], fields?: object) => read(lines, fields).deliveries.map(({ event }) => event.recipient)

test('activity: the generated message ID depends on the first eight columns only', (t) => {
  const line = rcptTo('ada@example.net')
  const columns = line.split('\t').slice(0, 8).join('\t')
  const digest = createHash('sha256')
    .update('me-activity.v1')
    .update(Buffer.of(0))
    .update('bsc_1')
    .update(Buffer.of(0))
    .update(columns)
    .digest('hex')
  const made = `<${digest.slice(0, 32)}@activity.mailenable.invalid>`
  for (const same of [line, `${line}\r\n`, columns, `${columns}\t99\t99\tsomebody\tAnother subject`]) {
    const [delivery] = read([same]).deliveries
    t.deepEqual([delivery?.syntheticMessageId, delivery?.event.key], [made, digest])
  }
  t.not(readable(readActivityEnvelope(envelope([line]), 'bsc_2')).read(new Map()).deliveries[0]?.syntheticMessageId, made)
})

test('activity: separates interleaved sessions, and transactions of a connection', (t) => {
  const b = { file: 'B2.MAI', socket: '2' }
  const incoming = { direction: 'SMTP-IN', file: 'C3.MAI', socket: '3' } as const
  const { deliveries } = read(
    [
      ...[mailFrom('a@x.example'), mailFrom('b@x.example', b), rcptTo('ada@example.net'), rcptTo('ben@example.net', '250 Ok', b)],
      ...[mailFrom('c@x.example', incoming), rcptTo('cy@here.example', '250 Ok', incoming), endOfData('250 Ok', incoming)],
      ...[mailFrom('d@x.example', incoming), rcptTo('di@here.example', '250 Ok', incoming)],
    ],
    { local_domains: ['HERE.example'] },
  )
  t.deepEqual(
    deliveries.map(({ event: { recipient, clues, action, remoteIp } }) => [recipient, clues.returnPaths[0], action, remoteIp]),
    [
      ['ada@example.net', 'a@x.example', 'relayed', '203.0.113.9'],
      ['ben@example.net', 'b@x.example', 'relayed', '203.0.113.9'],
      ['cy@here.example', 'c@x.example', 'delivered', null],
      ['di@here.example', 'd@x.example', 'delivered', null],
    ],
  )
})

test('activity: incoming mail is a delivery for local domains only', (t) => {
  const incoming = { direction: 'SMTP-IN' } as const
  const lines = ['a@here.example', 'b@sub.here.example', 'c@elsewhere.example'].map((address) => rcptTo(address, '250 Ok', incoming))
  t.deepEqual(recipients(lines, { local_domains: ['here.example', 5] }), ['a@here.example'])
  t.deepEqual(recipients(lines), [])
})

test('activity: a refused or reset message has no deliveries; others keep theirs', (t) => {
  const taken = [rcptTo('a@x.example'), endOfData('250 Ok')]
  const refused = [rcptTo('b@x.example'), rcptTo('c@x.example'), activityLine('DATA', 'DATA', '354 Go'), endOfData('554 5.6.0 No')]
  const later = rcptTo('d@x.example')
  const other = rcptTo('e@x.example', '250 Ok', { peer: '203.0.113.10' })
  const whole = read([...taken, other, ...refused, later])
  t.deepEqual(column(whole.deliveries, 'event', 'recipient'), ['a@x.example', 'e@x.example', 'd@x.example'])
  t.is(whole.withheld, 2)
  t.deepEqual(recipients([rcptTo('a@x.example'), endOfData('451 later')]), [])
  t.deepEqual(recipients([rcptTo('a@x.example'), activityLine('DATA', 'DATA', '554 none')]), [])
  t.deepEqual(recipients([rcptTo('a@x.example'), activityLine('RSET', 'RSET', '250 Ok')]), [])
  t.deepEqual(recipients([rcptTo('a@x.example'), endOfData('')]), ['a@x.example'])
})

test('activity: refusals have postoffice, direction, class and peer, and no event', (t) => {
  const { deliveries, refusals } = read(
    [
      rcptTo('a@x.example', '550 5.1.1 no'),
      rcptTo('b@x.example', '550-5.7.1 no', { file: 'B2.MAI' }),
      rcptTo('c@x.example', '450 wait', { account: 'sales@shop.example' }),
      activityLine('CONN', '', '554 no', { peer: '203.0.113.10', file: 'B2.MAI' }),
      activityLine('RCPT', 'RCPT TO:<d@x.example>', '550 no', { direction: 'SMTP-IN', file: 'B2.MAI' }),
      activityLine('RCPT', 'RCPT TO:<e@x.example>', '5500 is no code', { file: 'B2.MAI' }),
    ],
    {},
  )
  t.deepEqual(deliveries, [])
  t.deepEqual(columns(refusals, 'postoffice', 'direction', 'codeClass', 'peer'), [
    ['shop.example', 'out', 5, '203.0.113.9'],
    [null, 'out', 5, '203.0.113.9'],
    ['shop.example', 'out', 4, '203.0.113.9'],
    [null, 'out', 5, '203.0.113.10'],
    [null, 'in', 5, '203.0.113.9'],
  ])
  t.is(new Set(refusals.map(({ key }) => key)).size, 5)
})

test('activity: refused logins have different keys, without their argument', (t) => {
  const login = (text: string, told: Told = {}) => activityLine('AUTH', text, '535 no', { direction: 'SMTP-IN', ...told })
  const { refusals } = read([login('dXNlcg=='), login('cGFzcw=='), login('cGFzcw==', { socket: '2' })], {})
  t.is(refusals.length, 3)
  t.is(new Set(refusals.map(({ key }) => key)).size, 2)
})

test('activity: takes the postoffice from the envelope, else from the account', (t) => {
  const lines = [
    mailFrom('b1@bounce.example', { account: 'sales@Shop.example' }),
    rcptTo('ada@example.net'),
    rcptTo('b@x.example', '250 Ok', { file: 'B.MAI' }),
  ]
  const postoffices = (fields?: object) => read(lines, fields).deliveries.map(({ postoffice }) => postoffice)
  t.deepEqual(postoffices(), ['Shop.example', null])
  t.deepEqual(postoffices({ postoffice: 'Customer-B' }), ['Customer-B', 'Customer-B'])
})

test('activity: passwords of AUTH lines never appear in the result', (t) => {
  const secret = Buffer.from('hunter2').toString('base64')
  const auth = ['AUTH', 'auth', ' AUTH '].map((command) => activityLine(command, secret, '535 no'))
  const given = readable(readActivityEnvelope(envelope([...auth, `broken ${secret}`, rcptTo('a@x.example')]), 'bsc_1'))
  const all = [given, given.read(new Map()), [...given.read(new Map()).remember]]
  t.false(JSON.stringify(all).includes(secret))
  t.is(given.rejected.length, 1)
  for (const line of auth) t.false(JSON.stringify(readActivityLine(line)).includes(secret))
})

test('activity: rejects invalid lines by index and reads the others', (t) => {
  const good = rcptTo('a@x.example')
  const given = [
    ...['', '[08/21/26 00:00:04]****************** LOG FILE STARTED ****', good, 'x\ty', good.replace('08/21/26', '13/21/26')],
    ...[
      good.replace('08/21/26', '02/30/26'),
      good.replace('SMTP-OU', 'POP-IN'),
      5,
      null,
      { offset: 1 },
      { line: good },
      'z'.repeat(20_000),
    ],
  ]
  const { rejected, acceptedLines, read: finish } = readable(readActivityEnvelope(envelope(given), 'bsc_1'))
  t.deepEqual(
    rejected.map(({ index, reason }) => `${String(index)} ${reason}`),
    [
      '3 has 2 columns instead of at least 8',
      '4 does not begin with a time such as 08/21/26 12:15:00',
      '5 does not begin with a time such as 08/21/26 12:15:00',
      '6 has neither SMTP-IN nor SMTP-OU in column 2',
      ...[7, 8, 9].map((index) => `${String(index)} must be text, or {"offset", "line"}`),
      '11 is longer than 16,384 characters',
    ],
  )
  t.deepEqual([acceptedLines, finish(new Map()).deliveries.length], [4, 2])
})

test('activity: an invalid envelope is refused with the paths of its invalid fields', (t) => {
  const paths = (fields: object) => {
    const reading = readActivityEnvelope(envelope([], { time_zone: undefined, ...fields }), 'bsc_1')
    return 'problems' in reading ? reading.problems.map(({ path }) => path) : []
  }
  t.deepEqual(paths({}), ['time_zone'])
  t.deepEqual(paths({ time_zone: 'Mars/Olympus' }), ['time_zone'])
  t.deepEqual(paths({ utc_offset_minutes: 1.5 }), ['utc_offset_minutes', 'time_zone'])
  t.deepEqual(paths({ utc_offset_minutes: 120 }), [])
  t.deepEqual(paths({ time_zone: 'UTC', version: 2 }), ['version'])
  t.deepEqual(paths({ time_zone: 'UTC', lines: undefined }), ['lines'])
  t.deepEqual(paths({ time_zone: 'UTC', lines: {} }), ['lines', 'lines'])
  t.deepEqual(paths({ time_zone: 'UTC', lines: Array.from({ length: 5001 }, () => '') }), ['lines'])
  t.deepEqual(paths({ time_zone: 'UTC', lines: Array.from({ length: 5000 }, () => '') }), [])
  t.is(
    read([rcptTo('a@x.example')], { time_zone: undefined, utc_offset_minutes: 120 }).deliveries[0]?.event.occurredAt,
    Date.parse('2026-08-21T10:15:00Z'),
  )
})

/** The traffic of a day: several interleaved sessions. */
function traffic(seeded: Seeded): readonly string[] {
  const sessions = Array.from({ length: 8 }, (_, i) => {
    const told = {
      file: `${String(i)}F.MAI`,
      socket: String(i),
      account: seeded.pick(['', `u${String(i)}@shop.example`]),
      subject: `Order ${String(i)}`,
    }
    const to = Array.from({ length: seeded.between(1, 4) }, (__, n) =>
      rcptTo(`r${String(n)}@x.example`, seeded.pick(['250 Ok', '550 no', '450 wait']), told),
    )
    return [mailFrom(`b${String(i)}@bounce.example`, told), ...to, endOfData('250 queued', told)]
  })
  const lines: string[] = []
  while (sessions.some((session) => session.length > 0)) {
    const line = seeded.pick(sessions.filter((session) => session.length > 0)).shift()
    if (line !== undefined) lines.push(line)
  }
  return lines
}

const facts = (deliveries: readonly ActivityDelivery[]) =>
  deliveries.map(({ index: _, ...delivery }) => delivery).toSorted((a, b) => (a.event.key < b.event.key ? -1 : 1))

test('activity: batches, order and repetition do not change the deliveries', (t) => {
  const seeded = new Seeded('activity')
  for (let round = 0; round < 60; round++) {
    const lines = traffic(seeded).map((line, i) => ({ offset: i * 100, line }))
    const wanted = facts(read(lines).deliveries)
    const shuffled = lines.map((line) => [seeded.fraction(), line] as const).toSorted(([a], [b]) => a - b)
    t.deepEqual(facts(read(shuffled.map(([, line]) => line)).deliveries), wanted)
    const memory = new Map<string, ActivitySession>()
    const found = new Map<string, ActivityDelivery>()
    for (let at = 0; at < lines.length;) {
      const size = seeded.between(1, 9)
      const batch: readonly Line[] = lines.slice(Math.max(0, at - seeded.between(0, 3)), at + size) // batches may overlap
      const { deliveries, remember } = read(batch, {}, memory)
      for (const [file, session] of remember) memory.set(file, session)
      for (const delivery of deliveries) found.set(delivery.event.key, delivery)
      at += size
    }
    t.deepEqual(facts([...found.values()]), wanted)
  }
})

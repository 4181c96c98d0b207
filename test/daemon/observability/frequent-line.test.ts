/** Prepared log lines compared with lines of the logger. */
import test from '#test'
import { FrequentLine } from '../../../daemon/observability/frequent-line.ts'
import { createLogger } from '../../../daemon/observability/logging.ts'
import { machineTime } from '../../support/fake-clock.ts'

const names = ['trace_id', 'username', 'milliseconds', 'session'] as const
type Values = Readonly<Record<(typeof names)[number], string | number | undefined>>

const plain: Values = { trace_id: 'e9c1', username: 'site7', milliseconds: 1.2, session: undefined }
const odd: readonly Values[] = [
  plain,
  { ...plain, username: 'quote " and \\ and \u007f and line\r\nbreak' },
  { ...plain, username: '\u202eright to left', session: '\u{1f600} é' },
  { ...plain, username: 'x'.repeat(2500), session: '' },
  { ...plain, milliseconds: Number.NaN, session: 0 },
]

test('frequent line: equals the line of the logger', (t) => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(line) })
  for (const logger of [log, log.child({ part: 'x' })])
    for (const values of odd) {
      logger.info(values, 'message "accepted"')
      new FrequentLine(logger, 'message "accepted"', names).write(values)
      const [theirs, ours] = lines.splice(0).map((line) => line.replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, '"time":""'))
      t.is(ours, theirs)
      t.notThrows(() => void JSON.parse(ours ?? ''))
    }
})

test('frequent line: has the current time', (t) => {
  const lines: string[] = []
  const line = new FrequentLine(createLogger('info', { write: (text) => void lines.push(text) }), 'x', names)
  const before = machineTime()
  line.write(plain)
  const at = Date.parse((JSON.parse(lines[0] ?? '') as { readonly time: string }).time)
  t.true(at >= before && at <= machineTime())
})

test('frequent line: omitted below the level, and without secrets', (t) => {
  const lines: string[] = []
  const log = createLogger('warn', { write: (text) => void lines.push(text) })
  new FrequentLine(log, 'x', names).write(plain)
  t.deepEqual(lines, [])
  t.throws(() => new FrequentLine(log, 'x', ['access_token']), { message: /access_token/ })
})

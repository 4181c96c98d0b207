/** Log levels of parts, and the buffer of latest lines. */
import test from '#test'
import { loadConfig } from '#config/settings/load.ts'
import { FrequentLine } from '../../../daemon/observability/frequent-line.ts'
import { createLogger } from '../../../daemon/observability/logging.ts'
import { PartLogs } from '../../../daemon/observability/part-logs.ts'
import { RecentLines } from '../../../daemon/observability/recent-lines.ts'

const configured = (levels: string) => loadConfig({ env: { POSTERN_LOG_LEVELS: levels }, readFile: () => '' }).logLevels

test('log levels: a part has its configured level; debug applies to all until reset', (t) => {
  const said: string[] = []
  const log = createLogger('info', { write: (line) => void said.push((JSON.parse(line) as { msg: string }).msg) })
  const logs = new PartLogs(log, configured('delivery=debug, http=warn'))
  const [delivery, http, smtp] = [logs.of('delivery'), logs.of('http'), logs.of('smtp')]
  const frequent = new FrequentLine(http, 'frequent http', [])
  const speak = (): string[] => {
    said.length = 0
    delivery.debug('delivery debug')
    http.info('http info')
    smtp.debug('smtp debug')
    smtp.info('smtp info')
    log.debug('debug')
    frequent.write({})
    return said
  }
  const usual = ['delivery debug', 'smtp info']
  t.deepEqual(speak(), usual)
  t.is(logs.toggleDebug(), 'debug')
  t.deepEqual(speak(), ['delivery debug', 'http info', 'smtp debug', 'smtp info', 'debug', 'frequent http'])
  t.is(logs.toggleDebug(), 'usual')
  t.deepEqual(speak(), usual)
  t.is(logs.of('http'), http)
})

test('log levels: invalid ones stop the start', (t) => {
  for (const levels of ['delivery', 'delivery=loud', 'nothing=debug', 'http=warn=info'])
    t.throws(() => configured(levels), { message: /POSTERN_LOG_LEVELS must be a list such as delivery=debug,http=warn/ }, levels)
  t.deepEqual(configured(''), {})
})

test('latest lines: bounded, and searchable by content', (t) => {
  const passed: string[] = []
  const recent = new RecentLines()
  const log = createLogger('info', { write: (line) => void passed.push(line) }, recent)
  log.info({ trace_id: 'a' }, 'one')
  log.debug({ trace_id: 'a' }, 'not written')
  t.deepEqual(recent.with('"trace_id":"a"'), passed)
  for (let n = 0; n < 50_000; n++) recent.add(`line ${n}\n`)
  t.deepEqual(recent.with('"trace_id"'), [])
  t.is(recent.with('line').length, 20_000)
  t.deepEqual(recent.with('line 49999'), ['line 49999\n'])
  recent.add('x'.repeat(8 * 1024 * 1024))
  t.is(recent.with('').length, 1)
})

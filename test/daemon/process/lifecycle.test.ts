/** Start and stop in order, deadlines, and a real process with real signals. */
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from '#test'
import { Lifecycle, type ExitCode, type Part } from '../../../daemon/process/lifecycle.ts'
import { createLogger } from '../../../daemon/observability/logging.ts'
import { waiting } from '../../support/waits.ts'

function setUp(shutdownSeconds = 30) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('debug', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const events = new EventEmitter()
  const exits: ExitCode[] = []
  const lifecycle = new Lifecycle(log, shutdownSeconds, { events, exit: (code) => void exits.push(code) })
  return { lifecycle, lines, events, exits }
}

function partsFor(journal: string[]) {
  return (name: string, more: Partial<Part> = {}): Part => ({
    name,
    start: async () => void journal.push(`+${name}`),
    stop: async () => void journal.push(`-${name}`),
    ...more,
  })
}

test('stop() stops parts in reverse order, once', async (t) => {
  const { lifecycle } = setUp()
  const journal: string[] = []
  const part = partsFor(journal)
  for (const name of ['store', 'queue', 'http']) await lifecycle.start(part(name))
  await Promise.all([lifecycle.stop(), lifecycle.stop()])
  await lifecycle.stop()
  t.deepEqual(journal, ['+store', '+queue', '+http', '-http', '-queue', '-store'])
})

test('start(): stops started parts if one cannot start, and reports the reason', async (t) => {
  const { lifecycle } = setUp()
  const journal: string[] = []
  const part = partsFor(journal)
  await lifecycle.start(part('store'))
  await t.throwsAsync(lifecycle.start(part('http', { start: () => Promise.reject(new Error('the port is in use')) })), {
    message: 'the port is in use',
  })
  t.deepEqual(journal, ['+store', '-store'])
})

test('stop(): continues after a part that fails or exceeds its time', async (t) => {
  const { lifecycle, lines } = setUp()
  const journal: string[] = []
  const part = partsFor(journal)
  await lifecycle.start(part('store'))
  await lifecycle.start(part('slow', { stop: () => new Promise(() => undefined), stopSeconds: 0.02 }))
  await lifecycle.start(part('broken', { stop: () => Promise.reject(new Error('odd')) }))
  await lifecycle.stop()
  t.deepEqual(journal, ['+store', '+slow', '+broken', '-store'])
  t.truthy(lines.find((line) => line['part'] === 'slow' && line['level'] === 'warn'))
  t.truthy(lines.find((line) => line['part'] === 'broken' && line['level'] === 'error'))
})

test('stop(): keeps its total deadline and still stops every part', async (t) => {
  const { lifecycle, lines } = setUp(0.05)
  const journal: string[] = []
  const part = partsFor(journal)
  const asked: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) {
    const stop = () => {
      asked.push(name)
      return new Promise<void>(() => undefined)
    }
    await lifecycle.start(part(name, { stop, stopSeconds: 5 }))
  }
  await waiting("the end of the stop, before the parts' own deadlines", lifecycle.stop())
  t.deepEqual(asked, ['d', 'c', 'b', 'a'])
  t.is(lines.filter((line) => line['level'] === 'warn').length, 4)
})

test('start() of a part that a signal overtook stops it again', async (t) => {
  const { lifecycle } = setUp()
  const journal: string[] = []
  const part = partsFor(journal)
  await lifecycle.start(part('store'))
  const starting = Promise.withResolvers<void>()
  const started = lifecycle.start(part('http', { start: () => starting.promise }))
  await lifecycle.stop()
  starting.resolve()
  await started
  t.deepEqual(journal, ['+store', '-store', '-http'])
})

test('runUntilSignal() stops at the first signal and ends with 0', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const { lifecycle, events, exits } = setUp()
    const journal: string[] = []
    await lifecycle.start(partsFor(journal)('store'))
    const ended = lifecycle.runUntilSignal()
    t.deepEqual(exits, [])
    events.emit(signal, signal)
    await ended
    t.deepEqual(exits, [0])
    t.deepEqual(journal, ['+store', '-store'])
    t.is(events.listenerCount('SIGTERM') + events.listenerCount('SIGINT') + events.listenerCount('uncaughtException'), 0)
  }
})

test('runUntilSignal() ends at once at a second signal', async (t) => {
  const { lifecycle, events, exits } = setUp()
  const stopping = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const stop = () => {
    asked.resolve()
    return stopping.promise
  }
  await lifecycle.start(partsFor([])('store', { stop }))
  const ended = lifecycle.runUntilSignal()
  events.emit('SIGTERM', 'SIGTERM')
  await asked.promise
  events.emit('SIGINT', 'SIGINT')
  t.deepEqual(exits, [1])
  stopping.resolve()
  await ended
})

test('runUntilSignal(): stops at a configured signal; a repeated signal has no effect', async (t) => {
  const { lifecycle, events, exits } = setUp()
  const stopping = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const stop = () => {
    asked.resolve()
    return stopping.promise
  }
  await lifecycle.start(partsFor([])('store', { stop }))
  const ended = lifecycle.runUntilSignal(['SIGHUP'])
  events.emit('SIGHUP', 'SIGHUP')
  await asked.promise
  events.emit('SIGHUP', 'SIGHUP')
  t.deepEqual(exits, [])
  stopping.resolve()
  await ended
  t.deepEqual(exits, [0])
  t.is(events.listenerCount('SIGHUP'), 0)
})

test('storeFailed(): exits with 70 after pending responses, without an orderly stop', async (t) => {
  const { lifecycle, lines, exits } = setUp()
  const journal: string[] = []
  const answered = Promise.withResolvers<void>()
  const part = partsFor(journal)
  await lifecycle.start(part('store'))
  await lifecycle.start(part('http', { breakOff: () => answered.promise }))
  lifecycle.storeFailed(new Error('write failed'))
  lifecycle.storeFailed(new Error('write failed again'))
  t.like(lines.at(-1), { level: 'fatal', err: { message: 'write failed' } })
  t.deepEqual(exits, [])
  answered.resolve()
  await new Promise(setImmediate)
  t.deepEqual(exits, [70])
  t.deepEqual(journal, ['+store', '+http'])
})

test('fail(): exits with 70 without an orderly stop', async (t) => {
  const { lifecycle, lines, exits } = setUp()
  const journal: string[] = []
  await lifecycle.start(partsFor(journal)('store'))
  lifecycle.fail(new Error('write failed'))
  t.deepEqual(exits, [70])
  t.deepEqual(journal, ['+store'])
  t.like(lines.at(-1), { level: 'fatal', err: { message: 'write failed' } })
})

/** Runs a separate process with one part that can ignore `stop`. Returns its output and exit code. */
async function run(
  t: ExecutionContext,
  script: string,
  act: (child: { pid: number; kill(signal: NodeJS.Signals): void }, line: string) => void,
) {
  const folder = JSON.stringify(join(import.meta.dirname, '../../../daemon/'))
  const source = `
    const { Lifecycle } = await import(${folder} + 'process/lifecycle.ts')
    const { createLogger } = await import(${folder} + 'observability/logging.ts')
    const log = createLogger('info', 'stderr')
    const lifecycle = new Lifecycle(log, 5)
    const say = (text) => process.stdout.write(text + '\\n')
    const keepAlive = setInterval(() => {}, 1e6)
    ${script}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  createInterface(child.stdout).on('line', (line) => act({ pid: child.pid!, kill: (signal) => child.kill(signal) }, line))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code, signal, errors }
}

const servePart = (stop: string) => `
  const ended = lifecycle.runUntilSignal()
  await lifecycle.start({ name: 'part', start: async () => {}, stop: ${stop} })
  say('ready')`

test('Lifecycle of a real process: SIGTERM ends it with 0, after its log is written', async (t) => {
  const { code, errors } = await run(t, servePart(`async () => { log.info('part stopped') }`), (child) => child.kill('SIGTERM'))
  t.is(code, 0)
  const messages = errors
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg)
  t.deepEqual(messages, ['stopping', 'part stopped', 'stopped'])
})

test('Lifecycle of a real process: a second signal ends it at once', async (t) => {
  const script = servePart(`() => { say('stopping'); return new Promise(() => {}) }`)
  const { code } = await run(t, script, (child, line) => child.kill(line === 'ready' ? 'SIGTERM' : 'SIGINT'))
  t.is(code, 1)
})

test('Lifecycle of a real process: an uncaught error ends it with 70', async (t) => {
  const thrown = await run(t, `${servePart('async () => {}')}; setImmediate(() => { throw new Error('defect') })`, () => undefined)
  t.is(thrown.code, 70)
  t.regex(thrown.errors, /"level":"fatal".*defect/)
  const rejected = await run(t, `${servePart('async () => {}')}; Promise.reject(new Error('forgotten'))`, () => undefined)
  t.is(rejected.code, 70)
  t.regex(rejected.errors, /"level":"fatal".*forgotten/)
})

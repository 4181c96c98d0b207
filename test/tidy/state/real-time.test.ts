/** The rule about real time, fed with small examples. */
import test from '#test'
import { parseSource } from '../source.ts'
import { realTime, unusedExceptions } from './real-time.ts'

const path = 'test/store/a.test.ts'
const faults = (text: string, lane: 'exact' | 'real' = 'exact'): number =>
  realTime([parseSource(path, text)], new Set(lane === 'exact' ? [path] : [])).length

test('realTime(): refuses time, chance and state of the process in the exact lane', (t) => {
  const bad = [
    'setTimeout(f, 5)',
    "import { setTimeout as pause } from 'node:timers/promises'",
    'const now = Date.now()',
    'const now = new Date()',
    'const now = new Date',
    'performance.now()',
    'Math.random()',
    'AbortSignal.timeout(5)',
    'setInterval(f, 5)',
    'process.hrtime.bigint()',
    'const clock = systemClock',
    'const clock = FakeClock.atMachineTime()',
    "await waitFor('it', ask)",
    "process.env['A'] = '1'",
    "process.env['A'] ??= '1'",
    'process.env = {}',
    "Object.assign(process.env, { A: '1' })",
    "delete process.env['A']",
    "process.chdir('/')",
    'process.exit(1)',
  ]
  for (const text of bad) t.true(faults(text) > 0, text)
})

test('realTime(): accepts given times, reads of the environment and other lanes', (t) => {
  for (const text of ['new Date(5)', "process.env['A'] === '1'", 'daemon.clock.now()']) t.is(faults(text), 0, text)
  t.is(faults('Date.now()', 'real'), 0)
})

test('unusedExceptions(): names an exception that no file uses', (t) => {
  const used = 'test/suite/waits.test.ts'
  const unused = unusedExceptions([parseSource(used, "await waitFor('it', ask)")], new Set([used]))
  t.false(unused.some((one) => one.startsWith(used)))
  t.true(unused.length > 0)
})

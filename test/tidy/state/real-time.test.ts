/** The rule about real time, fed with small examples. */
import test from '#test'
import { parseSource } from '../source.ts'
import { realTime } from './real-time.ts'

const path = 'test/store/a.test.ts'
const faults = (text: string, lane: 'exact' | 'real' = 'exact'): number =>
  realTime([parseSource(path, text)], new Map([[path, lane]])).length

test('realTime(): refuses time, chance and state of the process in the exact lane', (t) => {
  const bad = [
    'setTimeout(f, 5)',
    "import { setTimeout as pause } from 'node:timers/promises'",
    'const now = Date.now()',
    'const now = new Date()',
    'performance.now()',
    'Math.random()',
    'AbortSignal.timeout(5)',
    "process.env['A'] = '1'",
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

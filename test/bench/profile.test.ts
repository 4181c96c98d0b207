/** Converts a V8 profile to shares by part, which explain a missed goal. */
import test from '#test'
import { sharesBetween } from './profile.ts'

const at = (path: string): string => new URL(`../../${path}`, import.meta.url).href
const node = (id: number, functionName: string, url = '', children: readonly number[] = []) => ({
  id,
  callFrame: { functionName, url, lineNumber: 9 },
  children,
})

const profile = {
  nodes: [
    node(1, '(root)', '', [2, 3, 4, 7]),
    node(2, '(idle)'),
    node(3, '(garbage collector)'),
    node(4, 'accept', at('daemon/core/submission/accept/accept.ts'), [5]),
    node(5, 'writeGeneric', 'node:net', [6]),
    node(6, 'writeUtf8String'),
    node(7, 'toString', at('store/tuple.ts')),
  ],
  startTime: 1000,
  samples: [4, 2, 6, 5, 3, 7, 4, 4],
  timeDeltas: [0, 100, 50, 30, 10, 20, 40, 60],
}

test('sharesBetween(): ignores idle time and counts native functions for callers', (t) => {
  const { parts, functions } = sharesBetween(profile, 0, Infinity)
  t.deepEqual(parts, {
    'core: submission': 160 / 260, // the last sample has no end
    'Node: sockets and streams': 40 / 260,
    'store and LevelDB': 40 / 260,
    'garbage collection': 20 / 260,
  })
  t.deepEqual(functions[0], { name: 'accept daemon/core/submission/accept/accept.ts:10', share: 160 / 260 })
  t.true(functions.some(({ name, share }) => name === 'writeUtf8String native' && share === 30 / 260))
})

test('sharesBetween(): counts samples that began in the span', (t) => {
  t.deepEqual(sharesBetween(profile, 1150, 1190).parts, { 'Node: sockets and streams': 40 / 60, 'garbage collection': 20 / 60 })
})

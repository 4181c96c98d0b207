/** Patterns of form authors: the same results as JavaScript, in bounded time. */
import test from '#test'
import { matcherOf, maxPattern, PatternFault, presets } from '#core/forms/definition/pattern.ts'

/** Any deterministic generator. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function randomPattern(random: () => number, depth = 0): string {
  const pick = <T>(...from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const atom = () =>
    depth < 3 && random() < 0.3 ? `(${randomPattern(random, depth + 1)})` : pick('a', 'b', '[ab]', '[^a]', '.', '\\d', '1', '(?:b|1)')
  const piece = () => `${atom()}${pick('', '', '', '?', '{2}', '{1,2}', depth === 0 ? '*' : '')}`
  const sequence = () => Array.from({ length: 1 + Math.floor(random() * 3) }, piece).join('')
  return random() < 0.25 ? `${sequence()}|${sequence()}` : sequence()
}

test('patterns match the same texts as JavaScript', (t) => {
  const random = randomOf(7)
  let [compared, matched] = [0, 0]
  for (let round = 0; round < 800; round++) {
    const pattern = randomPattern(random).slice(0, maxPattern)
    if (pattern.length === maxPattern) continue // truncated
    const matches = matcherOf(pattern)
    const reference = new RegExp(`^(?:${pattern})$`, 'u')
    for (let i = 0; i < 10; i++) {
      const input = Array.from({ length: Math.floor(random() * 6) }, () => 'ab1'[Math.floor(random() * 3)]).join('')
      t.is(matches(input), reference.test(input), `${pattern} and ${input}`)
      compared++
      if (matches(input)) matched++
    }
  }
  t.true(compared > 6000 && matched > 500, `${matched} of ${compared} matched`)
})

test('exponential patterns end after a limited number of steps', (t) => {
  const input = `${'a'.repeat(999)}!`
  for (const pattern of ['a*a*a*a*a*b', `${'a?'.repeat(59)}b`, '(a|a)*b', '(?:a{1,10}){1,10}b', '(a|aa)+b'])
    t.false(matcherOf(pattern)(input), pattern)
})

test('unsupported patterns are refused with the reason', (t) => {
  const faults: Readonly<Record<string, RegExp>> = {
    '(a)\\1': /back references/,
    '(?=a)b': /look-around/,
    '(?<x>a)': /look-around or a named group/,
    '(a+)+': /nests unbounded repeats/,
    '(a': /not closed/,
    'a)': /unmatched closing parenthesis/,
    '[a': /not closed/,
    '[b-a]': /in reverse order/,
    'a{5,2}': /maximum below its minimum/,
    'a{999}': /more than 200/,
    'a**': /repeat of a repeat/,
    '*a': /without a preceding character/,
    'a^b': /matches the whole input/,
    '\\bx': /not supported/,
    '(((a{50}){50}){50})': /too many repeats/,
    '(((((){200}){200}){200}){200})': /too many repeats/,
    ['a'.repeat(121)]: /at most 120/,
    'ends in \\': /ends unexpectedly/,
  }
  for (const [pattern, message] of Object.entries(faults))
    t.throws(() => matcherOf(pattern), { instanceOf: PatternFault, message }, pattern)
})

test('presets: accept valid and refuse invalid input', (t) => {
  const fits = (preset: string, input: string): boolean => {
    const found = presets[preset]
    return found !== undefined && matcherOf(found.pattern)(input) && (found.isWell?.(input) ?? true)
  }
  for (const [preset, good, bad] of [
    ['letters', "Zoë O'Neill", 'R2'],
    ['digits', '007', '7a'],
    ['alnum', 'É9', 'a b'],
    ['slug', 'a-b-1', 'A'],
    ['postal_ch', '8001', '0800'],
    ['iban', 'CH93 0076 2011 6238 5295 7', 'CH94 0076 2011 6238 5295 7'],
  ] as const) {
    t.true(fits(preset, good), `${preset} ${good}`)
    t.false(fits(preset, bad), `${preset} ${bad}`)
  }
})

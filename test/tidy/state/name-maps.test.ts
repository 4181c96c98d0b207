/** The rule about objects read by computed names, with small examples. */
import test, { type ExecutionContext } from '#test'
import { nameMaps } from './name-maps.ts'
import { parseSource } from '../source.ts'

const of = (text: string, path = 'store/a.ts') => nameMaps([parseSource(path, text)])

const refused = test.macro({
  exec: (t: ExecutionContext, text: string) =>
    t.deepEqual(of(text), ['store/a.ts:1 a is read by a computed name: make it a Map, or Object.create(null)']),
  title: (_, text) => `nameMaps() refuses ${text}`,
})

test(refused, 'const a: Record<string, string[]> = {}; const f = (b) => (a[b] ??= []).push(b)')
test(refused, 'const a: Record<string, string[]> = {}; const f = (b) => { a[b] = [...(a[b] ?? []), b] }')
test(refused, 'const a = {} as Record<string, number>; const f = (b) => a[b]')
test(refused, 'class B { readonly a: Record<string, number> = {}; m(b) { return this.a[`x${b}`] } }')
test(refused, 'const a: Readonly<Record<string, number>> = {}; const f = (b) => { a[b]++ }')

const accepted = test.macro({
  exec: (t: ExecutionContext, text: string) => t.deepEqual(of(text), []),
  title: (_, text) => `nameMaps() accepts ${text}`,
})

test(accepted, 'const a: Record<string, string> = {}; for (const b of c) a[b] = b; export const d = JSON.stringify(a)')
test(accepted, "const a: Record<string, string> = {}; a['b'] = a['c'] ?? a.d")
test(accepted, 'const a = Object.create(null) as Record<string, string>; const f = (b) => a[b]')
test(accepted, 'const a = { b: 1 } as const; const f = (c: keyof typeof a) => a[c]')
test(accepted, "const a: Partial<Record<'b' | 'c', number>> = {}; const f = (b) => a[b]")
test(accepted, 'const a = []; const f = (b) => a[b]')

test('nameMaps() refuses reads of private fields, and ignores tests', (t) => {
  const text = 'class B { readonly #a: Record<string, number> = {}; m(b) { return this.#a[b] ?? 0 } }'
  t.is(of(text).length, 1)
  t.deepEqual(of(text, 'test/store/a.ts'), [])
})

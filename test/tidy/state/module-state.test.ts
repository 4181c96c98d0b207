/** The rule about state of modules, fed with small examples. */
import test, { type ExecutionContext } from '#test'
import { moduleState } from './module-state.ts'
import { parseSource } from '../source.ts'

const of = (text: string, path = 'store/a.ts') => moduleState([parseSource(path, text)])

const refused = test.macro({
  exec: (t: ExecutionContext, text: string, name = 'a', line = 1) =>
    t.deepEqual(of(text), [`store/a.ts:${line} ${name} is state of the module: keep it in an instance`]),
  title: (_: string | undefined, text: string, _name?: string, _line?: number) => `moduleState() refuses ${text.replaceAll('\n', ' ')}`,
})

test(refused, 'let a = 0')
test(refused, 'export let a: string | undefined')
test(refused, 'let { b: [a = 1] } = c')
test(refused, 'const a = new Map()\nexport function f() { a.set(1, 2) }')
test(refused, 'function f() { return a.add(1) }\nconst a = new Set()', 'a', 2)
test(refused, 'const a = new WeakMap<object, number>()\nconst f = (key) => { a.delete(key) }')
test(refused, 'const a = new Recent<string>(5)\nclass B { m() { a.set(1, 2) } }')
test(refused, 'const a = []\nconst f = () => a.push(1)')
test(refused, 'const a = []\nconst f = () => { a[0] = 1 }')
test(refused, 'const a = { b: { c: 0 } }\nconst f = () => { a.b.c++ }')
test(refused, 'const a: { b?: number[] } = {}\nconst f = () => { a.b!.pop(); delete a.b }')
test(refused, 'class B { static a = 0 }', 'B.a')
test(refused, 'class B { static readonly a = new Map(); m() { B.a.clear() } }', 'B.a')
test(refused, 'class B { static #a = 0 }', 'B.a')

const accepted = test.macro({
  exec: (t: ExecutionContext, text: string) => t.deepEqual(of(text), []),
  title: (_, text) => `moduleState() accepts ${text.replaceAll('\n', ' ')}`,
})

test(accepted, 'const a = new Map()\nfor (const b of c) a.set(b, b)\nconst f = (b) => a.get(b)')
test(accepted, 'const a = []\nfunction f(a) { a.push(1) }')
test(accepted, 'const a = []\nfunction f({ b: [a] }) { a.push(1) }')
test(accepted, 'const a = []\nfunction f() { const a = []; return () => a.push(1) }')
test(accepted, 'const a = []\nfunction f() { for (const a of b) a.push(1) }')
test(accepted, 'const a = []\nconst f = () => a.map(String).reverse()')
test(accepted, 'function f() { let a = 0; a++ }')
test(accepted, 'const a = /b/y\nconst f = () => { a.lastIndex = 0 }')
test(accepted, 'class B { a = 0; static readonly c = new Set([1]); static d() {} }')
test(accepted, 'await using a = open()')
test(accepted, 'declare let a: number')

test('moduleState() ignores browser pages and test modules', (t) => {
  t.deepEqual(of('let a = 0', 'admin-api/dashboard/client/app/a.ts'), [])
  t.deepEqual(of('let a = 0', 'admin-api/pages/forms/embed/a.ts'), [])
  t.deepEqual(of('let a = 0', 'test/store/a.test.ts'), [])
  t.is(of('let a = 0', 'test/support/a.ts').length, 1)
})

test('moduleState() accepts allowed names only in their files', (t) => {
  t.deepEqual(of('let scratch = 0', 'store/tuple.ts'), [])
  t.is(of('let scratch = 0').length, 1)
})

/** The rules about imports, with small bad examples that prove that each rule can fail. */
import test, { type ExecutionContext } from '#test'
import { fileCycles, nounCycles } from './cycles.ts'
import { importDirection, layerOf, resolveImport } from './layers.ts'
import { packageHomes } from './packages.ts'
import { parseSource } from './source.ts'
import { waysOut } from './ways-out.ts'

const importing = (path: string, specifier: string) => [parseSource(path, `import { a } from '${specifier}'\n`)]

const refused = test.macro({
  exec(t: ExecutionContext, path: string, specifier: string, why: string) {
    t.deepEqual(importDirection(importing(path, specifier)), [`${path}:1 imports ${specifier}: ${why}`])
  },
  title: (_, path, specifier) => `importDirection() refuses ${specifier} in ${path}`,
})

test(refused, 'config/settings/load.ts', '#store/kv.ts', 'config may not import store')
test(refused, 'store/kv.ts', '../daemon/core/clock.ts', 'store may not import daemon/core')
test(refused, 'store/kv.ts', '#core/clock.ts', 'store may not import daemon/core')
test(refused, 'daemon/core/trace/states.ts', '#ingest/dsn.ts', 'daemon/core may not import ingest')
test(refused, 'daemon/core/trace/states.ts', '../../main.ts', 'daemon/core may not import daemon')
test(refused, 'protocols/mx/data.ts', '../../admin-api/server.ts', 'protocols may not import admin-api')
test(refused, 'admin-api/http/http-server.ts', '../../protocols/mx/data.ts', 'admin-api may not import protocols')
test(refused, 'daemon/main.ts', '../test/support/peer.ts', 'daemon may not import test')
test(refused, 'ingest/dsn.ts', '#core/feedback/apply.ts', 'ingest takes only types from the core')
test(refused, 'daemon/core/clock.ts', '#core/limits.ts', 'inside daemon/core, import by relative path')
test(refused, 'daemon/main.ts', './core/clock.ts', 'across layers, import by alias: #core/clock.ts')
test(refused, 'protocols/mx/data.ts', '../../store/kv.ts', 'across layers, import by alias: #store/kv.ts')
test(refused, 'store/kv.ts', '../tools/x.ts', 'it has no layer')
test(refused, 'store/kv.ts', '../../other/x.ts', 'it lies outside the repository')

const accepted = test.macro({
  exec: (t: ExecutionContext, path: string, specifier: string) => t.deepEqual(importDirection(importing(path, specifier)), []),
  title: (_, path, specifier) => `importDirection() accepts ${specifier} in ${path}`,
})

test(accepted, 'store/kv.ts', '#config/limits.ts')
test(accepted, 'store/level/log.ts', '../kv.ts')
test(accepted, 'daemon/core/trace/states.ts', '../refusals.ts')
test(accepted, 'protocols/mx/data.ts', '#ingest/dsn.ts')
test(accepted, 'daemon/main.ts', '../protocols/mx/listener.ts')
test(accepted, 'daemon/main.ts', '../package.json')
test(accepted, 'test/flows/send.test.ts', '../../daemon/core/clock.ts')
test(accepted, 'store/kv.ts', 'level')

test('importDirection() refuses a file without a layer', (t) => {
  t.regex(importDirection([parseSource('tools/x.ts', '')]).join(), /^tools\/x\.ts has no layer/)
})

test('importDirection() lets ingest import types of the core, in every form of import', (t) => {
  const types = [
    "import type { A } from '#core/a.ts'",
    "import { type A, type B } from '#core/a.ts'",
    "export type { A } from '#core/a.ts'",
    "type A = import('#core/a.ts').A",
  ]
  for (const code of types) t.deepEqual(importDirection([parseSource('ingest/dsn.ts', code)]), [], code)
})

test('importDirection() sees re-exports, side effects, mixed, dynamic and type imports', (t) => {
  const code = [
    "import '#core/a.ts'",
    "import { type A, b } from '#core/a.ts'",
    "export * from '#core/a.ts'",
    "export { c } from '#core/a.ts'",
    "const d = await import('#core/a.ts')",
    "type E = import('../../daemon/main.ts').E",
  ]
  for (const line of code) t.is(importDirection([parseSource('ingest/dsn.ts', line)]).length, 1, line)
})

test('importDirection() ignores imports in comments and strings', (t) => {
  const code = ['// import { a } from "#core/a.ts"', 'const text = `import { b } from "#core/a.ts"`'].join('\n')
  t.deepEqual(importDirection([parseSource('store/kv.ts', code)]), [])
})

test('layerOf() returns the longest matching folder', (t) => {
  t.is(layerOf('daemon/core/trace/states.ts'), 'daemon/core')
  t.is(layerOf('daemon/main.ts'), 'daemon')
  t.is(layerOf('daemonic/main.ts'), undefined)
})

test('resolveImport() follows aliases and relative paths, and ignores packages', (t) => {
  t.is(resolveImport('ingest/dsn.ts', '#core/trace/states.ts'), 'daemon/core/trace/states.ts')
  t.is(resolveImport('ingest/mail/dsn.ts', '../arf.ts'), 'ingest/arf.ts')
  t.is(resolveImport('ingest/dsn.ts', 'node:fs'), undefined)
})

test('fileCycles() names a cycle with the line of each import, types included', (t) => {
  const sources = [
    parseSource('store/a.ts', "// head\nimport { b } from './b.ts'"),
    parseSource('store/b.ts', "import type { C } from './c.ts'"),
    parseSource('store/c.ts', "import { a } from './a.ts'"),
    parseSource('store/d.ts', "import { a } from './a.ts'"),
  ]
  t.deepEqual(fileCycles(sources), ['store/a.ts -> store/b.ts (store/a.ts:2) -> store/c.ts (store/b.ts:1) -> store/a.ts (store/c.ts:1)'])
  t.deepEqual(fileCycles(sources.slice(1)), [])
  t.deepEqual(fileCycles([parseSource('store/a.ts', "import { a } from './a.ts'")]), ['store/a.ts -> store/a.ts (store/a.ts:1)'])
})

test('nounCycles() finds nouns of the core that import each other through different files', (t) => {
  const sources = [
    parseSource('daemon/core/trace/a.ts', "import { b } from '../access/b.ts'"),
    parseSource('daemon/core/access/c.ts', "import type { Core } from '../core.ts'\nimport { d } from '../trace/d.ts'"),
    parseSource('daemon/core/access/b.ts', "import { c } from './c.ts'\nimport { r } from '../../daemon/core/refusals.ts'"),
    parseSource('daemon/core/refusals.ts', ''),
    parseSource('daemon/core/core.ts', "import type { c } from './access/c.ts'"),
  ]
  t.deepEqual(nounCycles(sources), ['trace -> access (daemon/core/trace/a.ts:1) -> trace (daemon/core/access/c.ts:2)'])
  t.deepEqual(nounCycles(sources.slice(1)), [])
})

test('packageHomes() allows every package only in its home', (t) => {
  const faults = (path: string, specifier: string) => packageHomes(importing(path, specifier)).join()
  t.is(faults('admin-api/http/http-server.ts', 'level'), 'admin-api/http/http-server.ts:1 imports level: level lives in store/** only')
  t.is(
    faults('daemon/main.ts', 'tsyringe'),
    'daemon/main.ts:1 imports tsyringe: tsyringe lives in daemon/composition/composition.ts and daemon/composition/parts.ts only',
  )
  t.regex(faults('daemon/core/trace/a.ts', 'pino'), /pino lives in daemon\/observability\/\*\* only$/)
  t.regex(faults('store/a.ts', 'ava'), /ava is for tests only$/)
  t.is(faults('store/level/a.ts', 'level'), '')
  t.is(faults('test/store/a.test.ts', 'level'), '')
})

test('packageHomes() refuses packages without a home, in tests too, and built-in modules without node:', (t) => {
  const faults = (path: string, specifier: string) => packageHomes(importing(path, specifier)).join()
  t.regex(faults('store/a.ts', 'lodash/get'), /lodash has no home yet; add it to the table/)
  t.regex(faults('test/a.test.ts', '@scope/name/deep'), /@scope\/name has no home yet/)
  t.regex(faults('store/a.ts', 'constructor'), /constructor has no home yet/)
  t.regex(faults('store/a.ts', 'fs/promises'), /write node:fs\/promises$/)
  t.is(faults('store/a.ts', 'node:fs/promises'), '')
})

test('waysOut() refuses connections opened elsewhere, in every form of import', (t) => {
  const faults = (path: string, code: string) => waysOut([parseSource(path, code)]).join()
  const rule = 'opens connections, which is done in protocols/outbound only'
  t.is(faults('ingest/a.ts', "import { connect } from 'node:net'"), `ingest/a.ts:1 imports node:net: connect ${rule}`)
  t.is(faults('daemon/a.ts', "import { isIP, connect as dial } from 'node:net'"), `daemon/a.ts:1 imports node:net: connect ${rule}`)
  for (const code of ["import http from 'node:http'", "import * as http from 'node:http'", "const http = await import('node:http')"])
    t.regex(faults('protocols/mx/a.ts', code), /opens connections/, code)
  t.is(faults('protocols/mx/a.ts', "import { isIP, type Socket } from 'node:net'\nimport type { Agent } from 'node:http'"), '')
  t.is(faults('protocols/outbound/a.ts', "import { connect } from 'node:net'"), '')
  t.is(faults('test/a.test.ts', "import { connect } from 'node:net'"), '')
})

test('waysOut() reserves relay for mail, and lets outbound know no mail protocol', (t) => {
  const faults = (path: string, specifier: string) => waysOut(importing(path, specifier)).join()
  t.regex(
    faults('daemon/composition/webhook-core.ts', '../../protocols/relay/http/vendor-call.ts'),
    /nothing leaves through relay but relay/,
  )
  t.regex(faults('protocols/imap-dsn/a.ts', '../relay/smtp/failure.ts'), /nothing leaves through relay but relay/)
  t.regex(faults('protocols/outbound/a.ts', '../relay/smtp/failure.ts'), /nothing leaves through relay but relay/)
  t.regex(faults('protocols/outbound/a.ts', '../mx/server.ts'), /stands below the other folders/)
  t.is(faults('daemon/composition/layers/outside.ts', '../../../protocols/relay/transport.ts'), '')
  t.is(faults('protocols/relay/smtp/a.ts', '../../outbound/dial.ts'), '')
  t.is(faults('protocols/imap-dsn/a.ts', '../outbound/dial.ts'), '')
})

/** `postern verify` must know everything that the core writes, or it would call good data damaged. */
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import test from 'ava'
import { integrityChecks } from '#core/integrity.ts'
import { houseOf } from './house.ts'

async function namesIn(pattern: RegExp): Promise<string[]> {
  const names: string[] = []
  for await (const path of glob('daemon/**/*.ts')) {
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(pattern)) names.push(name)
  }
  return [...new Set(names)].toSorted()
}

test('integrityChecks() knows every kind of record', async (t) => {
  const { kinds } = integrityChecks((await houseOf(t)).database)
  const declared = await namesIn(/defineRecord<\w+>\(\{\s*name: '([^']+)'/g)
  t.true(declared.length > 5)
  t.deepEqual(kinds.map(({ name }) => name).toSorted(), declared)
})

test('integrityChecks() knows every family of keys that belongs to no organization', async (t) => {
  const { families = [] } = integrityChecks((await houseOf(t)).database)
  const global = families.flatMap((family) => (family.global ? [family.name] : []))
  t.deepEqual(global.toSorted(), await namesIn(/globalKey\('([^']+)'/g))
})

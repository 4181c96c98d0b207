/** `postern verify` must know all data of the core, or it would report good data as damaged. */
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import test from '#test'
import { organizationRemovalKey, projectRemovalKey } from '#core/tenancy/removal-key.ts'
import { integrityChecks } from '#core/integrity.ts'
import { Change } from '#store/change.ts'
import { dequeue, enqueue } from '#store/queue.ts'
import { coreFixture, organizationId } from './core-fixture.ts'

async function namesIn(pattern: RegExp): Promise<string[]> {
  const names: string[] = []
  for await (const path of glob('daemon/**/*.ts')) {
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(pattern)) names.push(name)
  }
  return [...new Set(names)].toSorted()
}

test('integrityChecks(): covers every kind of record', async (t) => {
  const { kinds } = integrityChecks((await coreFixture(t)).database)
  const declared = await namesIn(/defineRecord<\w+>\(\{\s*name: '([^']+)'/g)
  t.true(declared.length > 5)
  t.deepEqual(kinds.map(({ name }) => name).toSorted(), declared)
})

test('integrityChecks(): covers every family of global keys', async (t) => {
  const { families = [] } = integrityChecks((await coreFixture(t)).database)
  const global = families.flatMap((family) => (family.global ? [family.name] : []))
  t.deepEqual(global.toSorted(), await namesIn(/globalKey\('([^']+)'/g))
})

test('integrityChecks(): reports a message in the queue of another project', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.destination()
  const { traceId } = await fixture.submit({ destinationId: 'dst_1' })
  const [entry] = fixture.queued
  if (!entry) return t.fail()
  await fixture.assertSound(t)
  await fixture.database.commit(enqueue(dequeue(new Change(), entry), { ...entry, projectId: 'prj_2' }))
  const problems = await fixture.problems()
  t.is(problems.length, 1)
  t.regex(problems[0] ?? '', new RegExp(`the trace ${traceId} is of project prj_1, but is queued for project prj_2$`))
})

test('integrityChecks(): reports missing removals, and removals without target', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false, deletedAt: 7 })
  t.is((await fixture.problems()).length, 1)
  t.regex((await fixture.problems()).join(' '), /prj_2.*it is deleted, but its removal is not scheduled/)
  await fixture.database.commit(new Change().set(projectRemovalKey(7, organizationId, 'prj_2')))
  await fixture.assertSound(t)
  await fixture.database.commit(
    new Change().set(projectRemovalKey(8, organizationId, 'prj_2')).set(organizationRemovalKey(9, organizationId)),
  )
  const found = await fixture.problems()
  t.is(found.length, 2)
  for (const problem of found) t.regex(problem, /its target must not be removed at 1970-01-01T00:00:00.00[89]Z/)
})

/** A new resource with seven operations on a running daemon, and the number of lines that it needs. */
import { readFile } from 'node:fs/promises'
import test from '#test'
import { operationsOf } from '../../../admin-api/actions/http.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { noteActions, Notes } from './notes.ts'

test('a new resource has seven operations in its project, the audit log and the OpenAPI document', async (t) => {
  const operations = operationsOf(noteActions(() => notes))
  const { rest, part } = await startDaemon(t, { replacements: { operations } })
  const notes = new Notes(part('core'))
  const made = await rest.must('POST', '/v1/notes', { text: 'Call Anna' })
  t.like(made, { text: 'Call Anna', pinned: false })
  const path = `/v1/notes/${String(made['id'])}`
  t.like(await rest.must('POST', `${path}/pin`), { pinned: true })
  t.like(await rest.must('POST', `${path}/unpin`), { pinned: false })
  const changed = await rest.must('PATCH', path, { text: 'Call Anna at noon' })
  t.deepEqual(changed, { ...made, text: 'Call Anna at noon' })
  t.deepEqual(await rest.must('GET', path), changed)
  const newer = await rest.must('POST', '/v1/notes', { text: 'Send the offer' })
  t.deepEqual(await Array.fromAsync(rest.rows('/v1/notes', 1)), [newer, changed])
  t.is((await rest.call('DELETE', path)).status, 204)
  t.is((await rest.call('GET', path)).status, 404)
  t.is((await rest.call('POST', '/v1/notes', { txt: 'x' })).status, 400)
  const acts = (await Array.fromAsync(rest.rows('/v1/audit'))).map((entry) => entry['act'])
  for (const verb of ['created', 'pinned', 'unpinned', 'updated', 'deleted']) t.true(acts.includes(`note.${verb}`), verb)
  const { paths } = (await rest.must('GET', '/openapi.json')) as { readonly paths: Readonly<Record<string, unknown>> }
  t.deepEqual(
    Object.keys(paths).filter((name) => name.startsWith('/v1/notes')),
    ['/v1/notes', '/v1/notes/{id}', '/v1/notes/{id}/pin', '/v1/notes/{id}/unpin'],
  )
})

test('a new resource needs at most 150 lines for its record, core and wire format', async (t) => {
  const lines = (await readFile(new URL('notes.ts', import.meta.url), 'utf8')).trimEnd().split('\n')
  t.true(lines.length <= 150, `${lines.length} lines`)
})

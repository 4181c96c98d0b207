/** A complete resource with seven operations: record, core, wire format and actions, added as `admin-api/docs/` describes. */
import * as z from 'zod'
import { listReachable, type List, type OfProject, type PageQuery } from '#core/access/principal/lists.ts'
import { owningProject } from '#core/access/principal/project-choice.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Core } from '#core/core.ts'
import { must } from '#core/writes/transact.ts'
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import { defineRecord, type Immutable, type Stored } from '#store/record-kind.ts'
import type { Action } from '../../../admin-api/actions/action.ts'
import { resource } from '../../../admin-api/actions/resource.ts'
import { encoder } from '../../../admin-api/wire/fields/codec.ts'
import { filledLine, id } from '../../../admin-api/wire/fields/text.ts'
import { wireTime } from '../../../admin-api/wire/fields/time.ts'

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  text: z.string(),
  pinnedAt: z.int().optional(),
  createdAt: z.int(),
  updatedAt: z.int(),
})
export type Note = Immutable<z.infer<typeof schema>>
export const notes = defineRecord<Note>({ name: 'note', schema, isSetting: true, isTracked: true, projectOf: ({ projectId }) => projectId })

export interface NewNote {
  readonly text: string
  readonly projectId?: string | undefined
}

export class Notes implements List<OfProject, Note> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<Note>> {
    return listReachable(this.#core, notes, principal, query)
  }

  async get(principal: Principal, noteId: string): Promise<Note> {
    return (await must(this.#core.database, notes, principal, noteId)).record
  }

  create(principal: Principal, { text, projectId: named }: NewNote): Promise<Note> {
    const { database, writes, policies, clock } = this.#core
    return writes.runAudited(principal, 'note.created', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const now = clock.now()
      const note = {
        id: database.newId('nte', now),
        projectId: owningProject(principal, projects, named),
        text,
        createdAt: now,
        updatedAt: now,
      }
      change.insert(notes, principal.organizationId, note)
      return note
    })
  }

  update(principal: Principal, noteId: string, { text }: { readonly text?: string | undefined }): Promise<Note> {
    return this.#change(principal, 'note.updated', noteId, (note) => ({ ...note, text: text ?? note.text }))
  }

  pin(principal: Principal, noteId: string): Promise<Note> {
    return this.#change(principal, 'note.pinned', noteId, (note) => ({ ...note, pinnedAt: note.pinnedAt ?? this.#core.clock.now() }))
  }

  unpin(principal: Principal, noteId: string): Promise<Note> {
    return this.#change(principal, 'note.unpinned', noteId, ({ pinnedAt: _, ...note }) => note)
  }

  async remove(principal: Principal, noteId: string): Promise<void> {
    await this.#act(principal, 'note.deleted', noteId, (change, stored) => change.remove(notes, principal.organizationId, stored))
  }

  #change(principal: Principal, action: string, noteId: string, next: (note: Note) => Note): Promise<Note> {
    return this.#act(principal, action, noteId, (change, stored) => {
      const note = { ...next(stored.record), updatedAt: this.#core.clock.now() }
      change.replace(notes, principal.organizationId, stored, note)
      return note
    })
  }

  #act<T>(principal: Principal, action: string, noteId: string, decide: (change: Change, stored: Stored<Note>) => T): Promise<T> {
    const { writes, database } = this.#core
    return writes.runAudited(principal, action, async (change) => decide(change, await must(database, notes, principal, noteId)))
  }
}

const noteShape = z.object({ id: z.string(), project_id: z.string(), text: z.string(), pinned: z.boolean(), created_at: wireTime })
const note = encoder(noteShape.meta({ id: 'Note' })).from<Note>({ pinned: ({ pinnedAt }) => pinnedAt !== undefined })
const text = filledLine(100)

const all = resource('/v1/notes', { name: 'Note', tags: ['notes'] })

export const noteActions = (core: () => Notes): readonly Action[] => [
  all.list({ summary: 'List notes, newest first', item: note, run: ({ principal }, page) => core().list(principal, page) }),
  all.create({
    summary: 'Create a note',
    input: z.strictObject({ text, project_id: id.optional() }),
    output: note,
    run: ({ principal }, given) => core().create(principal, given),
  }),
  all.read({ summary: 'Get a note', output: note, run: ({ principal }, { id: noteId }) => core().get(principal, noteId) }),
  all.change({
    summary: 'Update a note',
    input: z.strictObject({ text: text.optional() }),
    output: note,
    run: ({ principal }, { id: noteId, ...changes }) => core().update(principal, noteId, changes),
  }),
  all.act('pin', { summary: 'Pin a note', output: note, run: ({ principal }, { id: noteId }) => core().pin(principal, noteId) }),
  all.act('unpin', { summary: 'Unpin a note', output: note, run: ({ principal }, { id: noteId }) => core().unpin(principal, noteId) }),
  all.remove({ summary: 'Delete a note', run: ({ principal }, { id: noteId }) => core().remove(principal, noteId) }),
]

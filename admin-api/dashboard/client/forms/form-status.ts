/** States of a form with their marks. */
import type { MarkName } from '../parts/mark.tsx'
import type { ListedForm } from '../wire/api.d.ts'

export type FormStatus = ListedForm['status']

export const statuses = ['draft', 'published', 'paused', 'archived'] as const satisfies readonly FormStatus[]

export const statusMarks: Readonly<Record<FormStatus, MarkName>> = {
  draft: 'pending',
  published: 'ok',
  paused: 'warning',
  archived: 'canceled',
}

/** Which submissions are listed, as the address says it, and the addresses of lists and of single ones. */
import { link, projectId, query } from '../app/location.ts'
import type { FormSubmission } from '../wire/operations.ts'

export type Status = FormSubmission['status']

export const statuses = ['open', 'new', 'read', 'replied', 'archived', 'spam', 'all'] as const
export type ListedStatus = (typeof statuses)[number]

const names = ['status', 'tag', 'assignee', 'q'] as const
type Named = Partial<Readonly<Record<(typeof names)[number], string>>>

/** What the address says; without a status, the open ones. */
export const wantedStatus = (): ListedStatus => statuses.find((one) => one === query.value.get('status')) ?? 'open'

const kept = (): Named => Object.fromEntries(names.map((name) => [name, query.value.get(name) ?? '']))

/** Something narrows the list beyond its status. */
export const isNarrowed = (): boolean => ['tag', 'assignee', 'q'].some((name) => (query.value.get(name) ?? '') !== '')

/** As the service is asked. */
export function wantedQuery(isOfAll: boolean) {
  const status = wantedStatus()
  const { status: _, ...rest } = kept()
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''))
  const project = isOfAll && projectId.value !== undefined ? { project: projectId.value } : {}
  return { limit: '50', ...project, ...(status !== 'all' && { status }), ...given }
}

/** A list: of one form, or of all. */
export const listLink = (formId: string | undefined, changes: Named = {}): string =>
  link(formId === undefined ? '/forms/submissions' : `/forms/${formId}/submissions`, { ...kept(), ...changes })

/** One submission, beside the list that it stands in. */
export const submissionLink = (submission: Pick<FormSubmission, 'id' | 'form_id'>, formId: string | undefined): string =>
  link(`/forms/${submission.form_id}/submissions/${submission.id}`, { ...kept(), in: formId === undefined ? 'all' : '' })

/** Whether one stays in the list when its status changes. */
export function staysListed(status: Status): boolean {
  const wanted = wantedStatus()
  if (wanted === 'open') return status !== 'archived' && status !== 'spam'
  return wanted === 'all' || wanted === status
}

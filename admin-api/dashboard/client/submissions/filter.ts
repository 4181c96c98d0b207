/** Filters of the submission list in the address, and URLs of lists and submissions. */
import { link, projectId, query } from '../app/location.ts'
import type { FormSubmission, ListedForm } from '../wire/api.d.ts'

export type Status = FormSubmission['status']

export const statuses = ['open', 'new', 'read', 'replied', 'archived', 'spam', 'all'] as const
export type ListedStatus = (typeof statuses)[number]

const names = ['status', 'tag', 'assignee', 'q', 'version', 'from', 'to'] as const
type Named = Partial<Readonly<Record<(typeof names)[number], string>>>

/** Returns the status of the address. Defaults to open submissions. */
export const wantedStatus = (): ListedStatus => statuses.find((one) => one === query.value.get('status')) ?? 'open'

const kept = (): Named => Object.fromEntries(names.map((name) => [name, query.value.get(name) ?? '']))

/** Whether filters other than the status are set. */
export const isNarrowed = (): boolean =>
  ['tag', 'assignee', 'q', 'version', 'from', 'to'].some((name) => (query.value.get(name) ?? '') !== '')

/** Returns the query parameters of the API. */
export function wantedQuery(isOfAll: boolean) {
  const status = wantedStatus()
  const { status: _, version = '', ...others } = kept()
  const rest = { ...others, ...(!isOfAll && /^[1-9]\d{0,8}$/.test(version) && { version }) }
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''))
  const project = isOfAll && projectId.value !== undefined ? { project: projectId.value } : {}
  return { ...project, ...(status !== 'all' && { status }), ...given }
}

/** Returns the URL of a list for one form or for all. A version filter applies only to one form. */
export const listLink = (formId: string | undefined, changes: Named = {}): string =>
  link(formId === undefined ? '/forms/submissions' : `/forms/${formId}/submissions`, {
    ...kept(),
    ...(formId === undefined && { version: '' }),
    ...changes,
  })

/** Returns the number of submissions in each list. */
export function countsOf(forms: readonly ListedForm[]): Readonly<Record<ListedStatus, number>> {
  const sum = (status: Status): number => forms.reduce((all, { submissions_by_status: counts }) => all + counts[status], 0)
  const [fresh, read, replied, archived, spam] = [sum('new'), sum('read'), sum('replied'), sum('archived'), sum('spam')]
  const open = fresh + read + replied
  return { open, new: fresh, read, replied, archived, spam, all: open + archived + spam }
}

/** Returns the URL of a submission next to its list. */
export const submissionLink = (submission: Pick<FormSubmission, 'id' | 'form_id'>, formId: string | undefined): string =>
  link(`/forms/${submission.form_id}/submissions/${submission.id}`, { ...kept(), in: formId === undefined ? 'all' : '' })

/** Whether a submission stays in the list after a change of its status. */
export function staysListed(status: Status): boolean {
  const wanted = wantedStatus()
  if (wanted === 'open') return status !== 'archived' && status !== 'spam'
  return wanted === 'all' || wanted === status
}

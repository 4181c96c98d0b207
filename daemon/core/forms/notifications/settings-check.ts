/** Checks notification settings against the fields of the draft and of the published version. */
import type { Database } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldAddress } from '../../addresses.ts'
import type { FieldProblem } from '../../refusals.ts'
import { problemsOfLine } from '../../templates/template-content.ts'
import { checkCondition, placesOf } from '../definition/check-logic.ts'
import { checkDefinition } from '../definition/check-definition.ts'
import { Findings } from '../definition/checks.ts'
import type { Definition } from '../definition/definition.ts'
import { formDrafts, formVersions, versionId, type Form } from '../form.ts'
import type { NotificationOrder } from './notification.ts'

export async function problemsOf(
  database: Database,
  { organizationId }: Principal,
  form: Form,
  { recipients, replyToField, subjectTmpl }: NotificationOrder,
): Promise<readonly FieldProblem[]> {
  const definitions = await definitionsOf(database, organizationId, form)
  const problems: FieldProblem[] = []
  const addresses = new Set<string>()
  for (const [at, { email, when }] of recipients.entries()) {
    const path = `recipients[${at}]`
    if (addresses.has(foldAddress(email))) problems.push({ path: `${path}.email`, message: 'is the address of another recipient' })
    addresses.add(foldAddress(email))
    if (when !== null) problems.push(...conditionProblems(when, `${path}.when`, definitions))
  }
  if (replyToField !== null && !definitions.some((definition) => isAddress(definition, replyToField)))
    problems.push({ path: 'reply_to_field', message: 'must be the key of a field of type email without email_mask' })
  return [...problems, ...problemsOfLine('subject_tmpl', subjectTmpl)]
}

/** Returns no problems if the condition is valid for any of the definitions; otherwise the problems with the first definition. */
function conditionProblems(when: unknown, path: string, definitions: readonly Definition[]): readonly FieldProblem[] {
  const all = definitions.map(({ schema }) => {
    const found = new Findings()
    checkCondition(when, path, placesOf(schema), found)
    return found.list
  })
  if (all.some((list) => list.length === 0)) return []
  return all[0] ?? [{ path, message: 'requires a draft without errors; correct the form first' }]
}

const isAddress = ({ schema }: Definition, key: string): boolean =>
  schema.fields.some((field) => field.key === key && field.type === 'email' && field.email_mask !== true)

/** Returns the valid draft and the published version. */
async function definitionsOf(database: Database, organizationId: string, { id, version }: Form): Promise<readonly Definition[]> {
  const draft = await database.get(formDrafts, { organizationId }, id)
  const { definition } = checkDefinition(draft?.record.definition)
  const published = version === 0 ? undefined : await database.get(formVersions, { organizationId }, versionId(id, version))
  return [...(definition ? [definition] : []), ...(published ? [published.record.definition] : [])]
}

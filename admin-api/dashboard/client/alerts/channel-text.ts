/** Name and scope of a channel, and the result of saving it. */
import { projects } from '../app/projects.ts'
import { plain } from '../parts/safe-text.tsx'
import type { Secret } from '../parts/secret-dialog.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import type { AlertChannel, SavedAlertChannel } from '../wire/api.d.ts'
import { texts } from './alerts-texts.ts'

/** Returns the name. The channel of the members has a name in the current language until it is renamed. */
export const nameOf = ({ kind, name, created_at: at }: AlertChannel): string => (kind === 'members' && at === null ? texts().members : name)

export const scopeOf = ({ project_id: id }: AlertChannel): string =>
  id === null ? texts().allProjects : plain(projects.value.find((one) => one.id === id)?.name ?? id)

export const secretOf = ({ name, hmac_secret: secret }: SavedAlertChannel): Secret | undefined =>
  secret === null
    ? undefined
    : { title: allTexts().secretOf({ name: plain(name) }), fields: [['hmac_secret', secret]], note: texts().secretNote }

/** Says what happened to a new target: its test, or the confirmation mail. */
export function savedText({ kind, confirmed_at: confirmedAt, last_test: test }: SavedAlertChannel): string {
  const w = texts()
  if (kind === 'mail' && confirmedAt === null) return w.askedToConfirm
  if (test === null) return w.saved
  return test.delivered ? w.savedAndTested : w.savedNotTested({ status: test.status_code ?? w.noResponse })
}

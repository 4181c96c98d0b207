/** Translates the codes of a diagnosis into the current language. */
import { texts } from './diagnosis-texts.ts'

const textOf = (known: Readonly<Record<string, string>>, code: string): string | undefined =>
  Object.hasOwn(known, code) ? known[code] : undefined

type Action = 'address' | 'setup' | 'message' | 'block' | 'later' | 'complaint'

const categoriesOf: Readonly<Record<Action, readonly string[]>> = {
  address: ['recipient_unknown', 'recipient_syntax', 'recipient_moved', 'recipient', 'mailbox_disabled', 'domain'],
  setup: ['sender', 'authentication', 'auth_client', 'tls', 'routing', 'protocol'],
  message: ['content', 'size'],
  block: ['reputation', 'policy'],
  later: ['mailbox_full', 'mailbox', 'rate', 'greylisting', 'system', 'network', 'expired', 'success', 'undetermined'],
  complaint: ['complaint'],
}

/** Returns the reason of a bounce by the category of the rejection. */
export const categoryReason = (category: string | null): string | undefined =>
  category === null ? undefined : textOf(texts().categories, category)

/** Returns the next step. */
export function categoryAction(category: string | null): string | undefined {
  const found = Object.entries(categoriesOf).find(([, categories]) => category !== null && categories.includes(category))
  return found && textOf(texts().actions, found[0])
}

const deferred = 'deferred_'

/** Returns the reason for missing mail by the id of the hypothesis. */
export const hypothesisReason = (id: string): string | undefined =>
  id.startsWith(deferred) ? categoryReason(id.slice(deferred.length)) : textOf(texts().hypotheses, id)

/** Options of `postern key create`. Reads no files and runs nothing. */
import { UsageError } from './read-options.ts'

export interface KeyArguments {
  readonly label: string
  /** Fields of the request by their API names, except `name`. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly asJson: boolean
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const

export const keyOptions = {
  ...{ scope: text, project: text, 'send-only': flag },
  ...{ 'expires-at': text, 'failure-notices': text, 'failure-notice-to': text },
} as const

/** Throws `UsageError`. */
export function keyArguments(label: string, values: Readonly<Record<string, unknown>>): KeyArguments {
  const isSendOnly = values['send-only'] === true
  if (isSendOnly && values['scope'] !== undefined)
    throw new UsageError('--scope and --send-only exclude each other: a send-only key has no scope.')
  const fields = {
    ...(isSendOnly ? { send_only: true } : { scopes: [values['scope'] ?? 'api:send'] }),
    ...{ project_id: values['project'], expires_at: values['expires-at'] },
    ...{ failure_notices: values['failure-notices'], failure_notice_to: values['failure-notice-to'] },
  }
  return { label, fields, asJson: values['json'] === true }
}

/** Text printed at every start until the first organization has an owner. */
import type { FirstSmtpLogin } from '#core/first-secrets.ts'
import type { Endpoint } from '#config/settings/formats.ts'

export interface Welcome {
  /** URL of a link that makes its visitor the owner. */
  readonly ownerUrl: string
  readonly apiKey: string | undefined
  readonly smtpLogin: FirstSmtpLogin | undefined
  /** Address of SMTP submission; undefined without a listener. */
  readonly submission: Endpoint | undefined
}

/** Returns plain text for a terminal, ending with an empty line. */
export function welcomeText({ ownerUrl, apiKey, smtpLogin, submission }: Welcome): string {
  const parts = [`This service has no owner yet. Open this within 24 hours to become it:\n\n  ${ownerUrl}`]
  if (apiKey !== undefined) parts.push(`An API key with every scope:\n\n  ${apiKey}`)
  if (smtpLogin)
    parts.push(
      `An SMTP login of the project Default, whose mail is captured until it has a destination:\n\n${loginLines(smtpLogin, submission)}`,
    )
  parts.push('Each start prints the same key and login, and a new link, until the service has an owner.')
  return `\n${parts.join('\n\n')}\n\n`
}

function loginLines({ username, password }: FirstSmtpLogin, listen: Endpoint | undefined): string {
  const rows = [
    ...(listen ? [`host      ${listen.host}`, `port      ${String(listen.port)}`] : []),
    `user      ${username}`,
    `password  ${password}`,
  ]
  return rows.map((row) => `  ${row}`).join('\n')
}

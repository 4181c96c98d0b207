/** SPF mechanisms of well-known providers, by SMTP host or by provider name. */

/** Suffixes of host names, and the mechanism that the provider documents. */
const mechanisms: readonly (readonly [string, string])[] = [
  ['amazonaws.com', 'include:amazonses.com'],
  ['brevo.com', 'include:spf.brevo.com'],
  ['sendinblue.com', 'include:spf.brevo.com'],
  ['fastmail.com', 'include:spf.messagingengine.com'],
  ['gandi.net', 'include:_mailcust.gandi.net'],
  ['gmail.com', 'include:_spf.google.com'],
  ['google.com', 'include:_spf.google.com'],
  ['infomaniak.com', 'include:spf.infomaniak.ch'],
  ['mailersend.com', 'include:_spf.mailersend.net'],
  ['mailersend.net', 'include:_spf.mailersend.net'],
  ['mailgun.org', 'include:mailgun.org'],
  ['mailgun.net', 'include:mailgun.org'],
  ['mailjet.com', 'include:spf.mailjet.com'],
  ['office365.com', 'include:spf.protection.outlook.com'],
  ['graph.microsoft.com', 'include:spf.protection.outlook.com'],
  ['ovh.net', 'include:mx.ovh.com'],
  ['postmarkapp.com', 'include:spf.mtasv.net'],
  ['resend.com', 'include:amazonses.com'],
  ['sendgrid.net', 'include:sendgrid.net'],
  ['sendgrid.com', 'include:sendgrid.net'],
  ['smtp2go.com', 'include:spf.smtp2go.com'],
]

/** Mechanisms of providers with an API, by provider name. */
const byProvider: Readonly<Record<string, string>> = {
  brevo: 'include:spf.brevo.com',
  mailersend: 'include:_spf.mailersend.net',
  mailgun: 'include:mailgun.org',
  mailjet: 'include:spf.mailjet.com',
  msgraph: 'include:spf.protection.outlook.com',
  postmark: 'include:spf.mtasv.net',
  resend: 'include:amazonses.com',
  sendgrid: 'include:sendgrid.net',
  ses: 'include:amazonses.com',
  smtp2go: 'include:spf.smtp2go.com',
}

/** Returns the mechanism of a provider or an SMTP host; undefined for unknown providers. */
export function spfMechanismOf({ provider, host }: { readonly provider: string; readonly host?: string }): string | undefined {
  const name = host?.toLowerCase()
  if (name === undefined) return byProvider[provider]
  return mechanisms.find(([end]) => name === end || name.endsWith(`.${end}`))?.[1]
}

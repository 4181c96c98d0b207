/** Names of the webhook event formats: the native format, and the formats of other services. */
export const webhookFormats = [
  ...(['native', 'resend', 'sendgrid', 'postmark', 'mailgun'] as const),
  ...(['brevo', 'mailersend', 'sparkpost', 'mailjet', 'ses'] as const),
] as const
export type WebhookFormat = (typeof webhookFormats)[number]

/** Key type of the formats that sign with a key pair per endpoint. The other formats use only the secret, or no signature. */
const keys: Readonly<Partial<Record<WebhookFormat, 'p256' | 'rsa'>>> = { sendgrid: 'p256', ses: 'rsa' }

export const keyOf = (format: WebhookFormat | undefined): 'p256' | 'rsa' | undefined => keys[format ?? 'native']

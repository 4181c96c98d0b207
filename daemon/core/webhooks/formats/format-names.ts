/** The formats of webhook events: our own, and those of services that programs move from. */
export const webhookFormats = [
  ...(['native', 'resend', 'sendgrid', 'postmark', 'mailgun'] as const),
  ...(['brevo', 'mailersend', 'sparkpost', 'mailjet', 'ses'] as const),
] as const
export type WebhookFormat = (typeof webhookFormats)[number]

/** The key pair that a format signs with, one of each endpoint's own; the others have the secret alone, or nothing. */
const keys: Readonly<Partial<Record<WebhookFormat, 'p256' | 'rsa'>>> = { sendgrid: 'p256', ses: 'rsa' }

export const keyOf = (format: WebhookFormat | undefined): 'p256' | 'rsa' | undefined => keys[format ?? 'native']

/** Supported services by name. */
import type { JSX } from 'preact'
import { ChooseField } from '../parts/controls.tsx'
import type { ListQuery } from './list-report.ts'
import { texts } from './moving-texts.ts'

type Service = NonNullable<ListQuery['service']>

const names: Readonly<Record<Service, string>> = {
  resend: 'Resend',
  sendgrid: 'SendGrid',
  postmark: 'Postmark',
  mailgun: 'Mailgun',
  brevo: 'Brevo',
  mailersend: 'MailerSend',
  sparkpost: 'SparkPost',
  mailjet: 'Mailjet',
  ses: 'Amazon SES',
}

export const nameOf = (service: string): string => (names as Readonly<Record<string, string>>)[service] ?? service

export const serviceIn = (text: string): { readonly service?: Service } => (text in names ? { service: text as Service } : {})

interface ServiceFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

export const ServiceField = ({ value, onChange }: ServiceFieldProps): JSX.Element => (
  <ChooseField label={texts().service} value={value} onChange={onChange} options={[['', texts().recognized], ...Object.entries(names)]} />
)

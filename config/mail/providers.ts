/** Mail providers with an HTTP API, and their credentials. The code for them is in `protocols/relay/http`. */

/** One credential of a provider, with the provider's name for it. */
export interface CredentialField {
  readonly required: boolean
  /** Stored encrypted, and never returned. */
  readonly secret: boolean
  /** The allowed values. */
  readonly choices?: readonly string[]
  /** Description of the value and of its place at the provider, for people. */
  readonly describe: string
}

/** A provider by its public name. */
export interface HttpProviderEntry {
  readonly title: string
  /** `mime`: the provider gets the message unchanged. `fields`: it gets fields and builds a message from them. */
  readonly takes: 'mime' | 'fields'
  readonly credentials: Readonly<Record<string, CredentialField>>
}

const secret = (describe: string) => ({ required: true, secret: true, describe }) as const

const sesRegions = [
  ...['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2', 'ca-central-1', 'ca-west-1', 'sa-east-1', 'mx-central-1'],
  ...['eu-central-1', 'eu-central-2', 'eu-west-1', 'eu-west-2', 'eu-west-3', 'eu-north-1', 'eu-south-1', 'eu-south-2'],
  ...['ap-northeast-1', 'ap-northeast-2', 'ap-northeast-3', 'ap-south-1', 'ap-south-2', 'ap-southeast-1', 'ap-southeast-2'],
  ...['ap-southeast-3', 'ap-southeast-5', 'ap-east-1', 'af-south-1', 'il-central-1', 'me-central-1', 'me-south-1'],
  ...['us-gov-east-1', 'us-gov-west-1'],
] as const

export const httpProviders = {
  ses: {
    title: 'Amazon SES',
    takes: 'mime',
    credentials: {
      access_key_id: { required: true, secret: false, describe: 'Access key id of an IAM user or role that may call ses:SendEmail.' },
      secret_access_key: secret('The secret access key of that access key id.'),
      session_token: { required: false, secret: true, describe: 'Session token of temporary credentials.' },
      region: { required: true, secret: false, choices: sesRegions, describe: 'AWS region of the verified sending identity.' },
    },
  },
  sendgrid: {
    title: 'Twilio SendGrid',
    takes: 'fields',
    credentials: {
      api_key: secret('API key with the permission Mail Send.'),
      region: { required: false, secret: false, choices: ['global', 'eu'], describe: 'eu for a regional subuser; global by default.' },
    },
  },
  mailgun: {
    title: 'Mailgun',
    takes: 'mime',
    credentials: {
      api_key: secret('Sending key of the domain, or an API key of the account.'),
      domain: { required: true, secret: false, describe: 'Sending domain at Mailgun, such as mg.example.ch.' },
      region: { required: false, secret: false, choices: ['us', 'eu'], describe: 'Region of the domain; us by default.' },
    },
  },
  postmark: {
    title: 'Postmark',
    takes: 'fields',
    credentials: {
      server_token: secret('Server API token, found under API Tokens of the server.'),
      message_stream: { required: false, secret: false, describe: 'Id of the message stream; outbound by default.' },
    },
  },
  resend: { title: 'Resend', takes: 'fields', credentials: { api_key: secret('API key with sending access.') } },
  brevo: { title: 'Brevo', takes: 'fields', credentials: { api_key: secret('API key of version 3, which begins with xkeysib-.') } },
  mailjet: {
    title: 'Mailjet',
    takes: 'fields',
    credentials: {
      api_key: { required: true, secret: false, describe: 'API key of the account or of a sub-account.' },
      secret_key: secret('The secret key of that API key.'),
      region: { required: false, secret: false, choices: ['eu', 'us'], describe: 'us for accounts of the US platform; eu by default.' },
    },
  },
  sparkpost: {
    title: 'SparkPost',
    takes: 'mime',
    credentials: {
      api_key: secret('API key with the permission Transmissions: Read/Write.'),
      region: { required: false, secret: false, choices: ['us', 'eu'], describe: 'Region of the account; us by default.' },
    },
  },
  mailersend: {
    title: 'MailerSend',
    takes: 'fields',
    credentials: {
      api_token: secret('API token of the domain with sending access.'),
      custom_headers: {
        required: false,
        secret: false,
        choices: ['yes', 'no'],
        describe: 'yes in the plans Professional and Enterprise, which may set headers such as List-Unsubscribe; no by default.',
      },
    },
  },
  smtp2go: {
    title: 'SMTP2GO',
    takes: 'mime',
    credentials: {
      api_key: secret('API key with permission to send; it begins with api-.'),
      region: {
        required: false,
        secret: false,
        choices: ['global', 'us', 'eu', 'au'],
        describe: 'Region of the API endpoint; the nearest one by default.',
      },
    },
  },
  scaleway: {
    title: 'Scaleway Transactional Email',
    takes: 'fields',
    credentials: {
      secret_key: secret('Secret key of an IAM API key that may send email in the project.'),
      project_id: { required: true, secret: false, describe: 'Id of the project with the verified sending domain.' },
      region: {
        required: false,
        secret: false,
        choices: ['fr-par', 'nl-ams', 'pl-waw'],
        describe: 'Region of the domain; fr-par by default.',
      },
    },
  },
  msgraph: {
    title: 'Microsoft Graph',
    takes: 'mime',
    credentials: {
      tenant: { required: true, secret: false, describe: 'Id of the tenant, or one of its domains such as example.onmicrosoft.com.' },
      client_id: {
        required: true,
        secret: false,
        describe: 'Application (client) id of an app registration with the application permission Mail.Send.',
      },
      client_secret: secret('Client secret of the app registration.'),
      mailbox: { required: true, secret: false, describe: 'Address or id of the mailbox that sends.' },
      cloud: {
        required: false,
        secret: false,
        choices: ['global', 'us_gov', 'us_dod', 'china'],
        describe: 'National cloud of the tenant; global by default.',
      },
    },
  },
} as const satisfies Readonly<Record<string, HttpProviderEntry>>

export type HttpProvider = keyof typeof httpProviders

/** Ids of all providers, in the order of the table. */
export const httpProviderIds = Object.keys(httpProviders) as readonly HttpProvider[]

/** Returns the credentials of a provider by name. */
export const credentialFields = (provider: HttpProvider): Readonly<Record<string, CredentialField>> => httpProviders[provider].credentials

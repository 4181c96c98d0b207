/** Providers and their credentials on the wire. Spec "Destination". Requests may contain secrets; responses never do. */
import * as z from 'zod'
import { closest } from '#config/texts/closest.ts'
import { credentialFields, httpProviderIds, httpProviders, type CredentialField, type HttpProvider } from '#config/mail/providers.ts'
import type { HttpDestination } from '#core/routing/destination.ts'
import { encoder } from '../fields/codec.ts'
import { filledLine } from '../fields/text.ts'

export const providerIds = ['smtp', ...httpProviderIds] as const

const fieldShape = z.object({
  name: z.string(),
  required: z.boolean(),
  secret: z.boolean().meta({ description: 'Never returned; responses contain has_… instead.' }),
  choices: z.array(z.string()).nullable(),
  description: z.string(),
})

const providerShape = z
  .object({
    id: z.enum(providerIds),
    name: z.string(),
    takes: z.enum(['mime', 'fields']).meta({
      description: 'mime: the message is sent unchanged; fields: the provider composes a message from sender, texts and attachments.',
    }),
    credentials: z.array(fieldShape),
  })
  .meta({ id: 'Provider' })

const optional = { required: false, secret: false } as const
const baseUrl: CredentialField = {
  ...optional,
  describe: 'Origin of a private endpoint to use instead of the public one, such as https://mail-api.example.ch.',
}

const smtpFields: Readonly<Record<string, CredentialField>> = {
  host: { ...optional, describe: 'Host name or IP address of the server. Required unless a preset provides it.' },
  port: { ...optional, describe: 'Port of the server. Required unless a preset provides it.' },
  security: { ...optional, choices: ['tls', 'starttls', 'none'], describe: 'Required unless a preset provides it.' },
  tls_policy: { ...optional, choices: ['verify', 'insecure'], describe: 'insecure accepts any certificate. Defaults to verify.' },
  username: { ...optional, describe: 'User name at the server; requires password.' },
  password: { required: false, secret: true, describe: 'Password for the user name.' },
}

type Provider = (typeof providerIds)[number]

const fieldsOf = (provider: Provider): Readonly<Record<string, CredentialField>> =>
  provider === 'smtp' ? smtpFields : { ...credentialFields(provider), base_url: baseUrl }

const field = encoder(fieldShape).from<CredentialField & { readonly name: string }>({ description: ({ describe }) => describe })

/** A provider with the fields of its credentials. */
export const provider = encoder(providerShape).from<Provider>({
  id: (one) => one,
  name: (one) => (one === 'smtp' ? 'SMTP server' : httpProviders[one].title),
  takes: (one) => (one === 'smtp' ? 'mime' : httpProviders[one].takes),
  credentials: (one) => Object.entries(fieldsOf(one)).map(([name, about]) => field.encode({ name, ...about })),
})
/** The core validates choices, since its errors suggest the nearest choice. */
function credential({ describe, choices }: CredentialField) {
  return filledLine(2048).meta({ description: describe, ...(choices && { enum: [...choices] }) })
}

/** The credentials of one provider, for a new destination. */
export const credentialsOf = (of: HttpProvider) =>
  z.strictObject(Object.fromEntries(Object.entries(fieldsOf(of)).map(([name, about]) => [name, credential(about).optional()])))

/** The credentials of all providers, for changes; the destination decides which of them apply. */
export const anyCredentials = Object.fromEntries(
  [...httpProviderIds.flatMap((of) => Object.keys(credentialFields(of))), 'base_url'].map((name) => [
    name,
    filledLine(2048).nullable().optional(),
  ]),
)

/** Credentials in responses: the value of a plain credential, and for a secret only whether it is set. */
export const credentialsShape = z.record(z.string(), z.union([z.string(), z.boolean(), z.null()])).meta({
  description: 'For a provider with an API: credentials by name, has_… for secrets, and base_url.',
})

export function toWireCredentials(destination: HttpDestination): z.input<typeof credentialsShape> {
  const { baseUrl: base, credentials, sealedCredentials } = destination
  const shown = Object.entries(credentialFields(destination.provider)).map(([name, { secret }]) =>
    secret ? [`has_${name}`, sealedCredentials[name] !== undefined] : [name, credentials[name] ?? null],
  )
  return { ...Object.fromEntries(shown), base_url: base }
}

/** Returns the error for a missing or unknown provider. */
export function unknownProvider(given: unknown): string {
  if (given === undefined) return `is required: one of ${providerIds.join(', ')}`
  const near = typeof given === 'string' ? closest(given, providerIds) : undefined
  return `must be one of ${providerIds.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`
}

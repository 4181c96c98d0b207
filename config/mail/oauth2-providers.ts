/** Mail providers whose submission servers take OAuth 2.0 access tokens, and where those tokens come from. */

/** RFC 6749 §4.4 and RFC 6749 §6. */
export type OAuth2GrantType = 'client_credentials' | 'refresh_token'

export interface OAuth2Provider {
  /** With `{tenant}` where the organization's name belongs. */
  readonly tokenUrl: string
  /** How mailbox tokens can be had. */
  readonly grants: readonly OAuth2GrantType[]
  /** What a request asks for when the customer names nothing. */
  readonly scopes: Readonly<Partial<Record<OAuth2GrantType, string>>>
}

const microsoft: OAuth2Provider = {
  tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
  grants: ['client_credentials', 'refresh_token'],
  scopes: {
    client_credentials: 'https://outlook.office365.com/.default',
    refresh_token: 'https://outlook.office.com/SMTP.Send offline_access',
  },
}

const personalMicrosoft: OAuth2Provider = { ...microsoft, grants: ['refresh_token'] }

/** A refresh token of Google carries its scope, https://mail.google.com/, in itself. */
const google: OAuth2Provider = { tokenUrl: 'https://oauth2.googleapis.com/token', grants: ['refresh_token'], scopes: {} }

const byHost: ReadonlyMap<string, OAuth2Provider> = new Map([
  ['smtp.office365.com', microsoft],
  ['smtp-mail.outlook.com', personalMicrosoft],
  ['smtp.gmail.com', google],
])

/** The provider behind a submission server; undefined when it is not known. */
export const findOAuth2Provider = (host: string): OAuth2Provider | undefined => byHost.get(host)

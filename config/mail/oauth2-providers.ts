/** Mail providers whose submission servers accept OAuth 2.0 access tokens, and the endpoints that issue the tokens. */

/** RFC 6749 §4.4 and RFC 6749 §6. */
export type OAuth2GrantType = 'client_credentials' | 'refresh_token'

export interface OAuth2Provider {
  /** Contains `{tenant}` in place of the organization's name. */
  readonly tokenUrl: string
  /** Grants that issue tokens for mailboxes. */
  readonly grants: readonly OAuth2GrantType[]
  /** Default scopes of a request. */
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

/** A refresh token of Google contains its scope, https://mail.google.com/. */
const google: OAuth2Provider = { tokenUrl: 'https://oauth2.googleapis.com/token', grants: ['refresh_token'], scopes: {} }

const byHost: ReadonlyMap<string, OAuth2Provider> = new Map([
  ['smtp.office365.com', microsoft],
  ['smtp-mail.outlook.com', personalMicrosoft],
  ['smtp.gmail.com', google],
])

/** Returns the provider of a submission server; undefined for unknown servers. */
export const findOAuth2Provider = (host: string): OAuth2Provider | undefined => byHost.get(host)

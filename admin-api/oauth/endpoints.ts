/** The endpoints for programs: token, revocation and registration (RFC 6749 §3.2, RFC 7009, RFC 7591). */
import { clientMetadata } from '#core/oauth/clients/client.ts'
import type { ClientRequest } from '#core/oauth/clients/clients.ts'
import { Parameters } from '#core/oauth/protocol/parameters.ts'
import type { Registered, Registrations } from '#core/oauth/clients/registrations.ts'
import type { Revocation } from '#core/oauth/endpoints/revocation.ts'
import type { TokenAnswer, TokenEndpoint } from '#core/oauth/endpoints/token-endpoint.ts'
import { media } from '../operation/answer.ts'
import type { BodyStream } from '../bodies/body-stream.ts'
import { formBody, readForm } from '../bodies/form-body.ts'
import { operation, type HandlerInput, type Operation } from '../operation/operation.ts'
import { oauthRefusal, registrationRefusal, unkeptJson, unkeptNothing } from './oauth-answers.ts'
import { oauthPaths } from './paths.ts'

export interface EndpointCore {
  readonly tokenEndpoint: TokenEndpoint
  readonly revocation: Revocation
  readonly registrations: Registrations
}

const maxBodyBytes = 16_384
const called = {
  method: 'POST',
  tags: ['oauth'],
  scope: 'none',
  allowsAnyOrigin: true,
  hiddenFromOpenApi: true,
  maxBodyBytes,
  response: media('application/json'),
} as const

export const endpointOperations = (core: EndpointCore): readonly Operation[] => [
  operation({
    ...called,
    path: oauthPaths.token,
    operationId: 'issueToken',
    summary: 'Create an access token',
    errorRenderer: oauthRefusal,
    body: formBody,
    handle: async (input) => unkeptJson(toWireToken(await core.tokenEndpoint.answer(await clientRequest(input)))),
  }),
  operation({
    ...called,
    path: oauthPaths.revoke,
    operationId: 'revokeToken',
    summary: 'Revoke a grant with all its tokens',
    errorRenderer: oauthRefusal,
    body: formBody,
    async handle(input) {
      await core.revocation.revoke(await clientRequest(input))
      return unkeptNothing()
    },
  }),
  operation({
    ...called,
    path: oauthPaths.register,
    operationId: 'registerClient',
    summary: 'Register a client',
    errorRenderer: registrationRefusal,
    body: clientMetadata,
    handle: async ({ body, remoteAddress }) => unkeptJson(toWireRegistration(await core.registrations.register(body, remoteAddress)), 201),
  }),
]

async function clientRequest({
  body,
  headers,
  remoteAddress,
}: HandlerInput<unknown, unknown, BodyStream, undefined>): Promise<ClientRequest> {
  return { parameters: new Parameters(await readForm(body)), authorization: headers.authorization, remoteAddress }
}

/** RFC 6749 §5.1, with the project of a new sandbox. */
const toWireToken = ({ accessToken, expiresInSeconds, scopes, refreshToken, projectId }: TokenAnswer): object => ({
  access_token: accessToken,
  token_type: 'Bearer',
  expires_in: expiresInSeconds,
  scope: scopes.join(' '),
  ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  ...(projectId !== undefined && { project_id: projectId }),
})

/** RFC 7591 §3.2.1. */
const toWireRegistration = ({ client, secret, createdAt }: Registered): object => ({
  client_id: client.id,
  client_id_issued_at: Math.floor(createdAt / 1000),
  ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
  client_name: client.name,
  redirect_uris: client.redirectUris,
  grant_types: client.grantTypes,
  response_types: ['code'],
  token_endpoint_auth_method: client.authentication,
})

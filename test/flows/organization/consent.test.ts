/**
 * Access of an application with openid-client on one side and the links, pages and buttons of the daemon in Chromium on the other, with and
 * without scripts.
 */
import type { ExecutionContext } from 'ava'
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/client'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { waitFor } from '../../support/waits.ts'
import { leave, startApplication } from '../../support/web/application.ts'
import { browserOf, type Page } from '../../support/web/browser.ts'
import { Daemon, runCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { programPort } from '../../support/network/program-port.ts'
import { testWith } from '../../support/peers/peers.ts'
import { assertVerified } from '../../support/problems.ts'

const test = testWith('chromium')

const browser = browserOf(test)

const linkIn = (text: string): string => /http:\/\/localhost:\d+\/sign-in\/link\/[\w-]{43}/.exec(text)?.[0] ?? ''

async function signIn(page: Page, link: string, email?: string): Promise<void> {
  await page.goto(link)
  if (email !== undefined) {
    await page.fill('#email', email)
    await page.fill('#organization', 'Alpenblick')
  }
  await Promise.all([page.waitForURL(/:\d+\/$/), page.click('main >> text=Sign in >> nth=-1')])
}

/** A complete authorization, from the authorization URL to a REST call with the token. */
async function access(t: ExecutionContext, page: Page, issuer: string, name: string): Promise<void> {
  const redirectUri = await startApplication(t)
  const metadata = { redirect_uris: [redirectUri], client_name: name, token_endpoint_auth_method: 'none' }
  const insecure: openid.DynamicClientRegistrationRequestOptions = { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] }
  const config = await openid.dynamicClientRegistration(new URL(issuer), metadata, openid.None(), insecure)
  const verifier = openid.randomPKCECodeVerifier()
  const state = openid.randomState()
  const resource = `${issuer}/v1`
  const address = openid.buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirectUri, scope: 'api:read', resource, state, code_challenge_method: 'S256' },
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
  })
  const expected = { pkceCodeVerifier: verifier, expectedState: state }
  await page.goto(address.href)
  t.regex(await page.innerText('main'), new RegExp(`${name} is not verified`))
  const denied = new URL(await leave(page, 'button:has-text("Refuse")'))
  await t.throwsAsync(openid.authorizationCodeGrant(config, denied, expected), {
    message: /authorization response from the server is an error/,
  })

  await page.goto(address.href)
  const back = new URL(await leave(page, 'button:has-text("Connect")'))
  const tokens = await openid.authorizationCodeGrant(config, back, expected, { resource })
  t.is(tokens.scope, 'api:read')
  const call = async (method = 'GET') =>
    (await fetch(`${resource}/projects/me`, { method, headers: { authorization: `Bearer ${tokens.access_token}` } })).status
  t.is(await call(), 200)
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', { resource })
  t.is(refreshed.scope, 'api:read')

  await page.goto(`${issuer}/account/applications`)
  t.regex(await page.innerText('main'), new RegExp(name))
  await Promise.all([page.waitForURL(/done=application_revoked/), page.click(`[aria-label^="Revoke the access of ${name}"]`)])
  t.is(await call(), 401)
  await t.throwsAsync(openid.refreshTokenGrant(config, refreshed.refresh_token ?? ''))
}

/** An agent with the official MCP client: discovery, registration, consent of the person, and refresh. */
async function agentAccess(t: ExecutionContext, page: Page, issuer: string): Promise<void> {
  const redirectUrl = await startApplication(t)
  const resource = await discoverOAuthProtectedResourceMetadata(`${issuer}/v1`)
  const metadata = await discoverAuthorizationServerMetadata(resource.authorization_servers?.[0] ?? '')
  const known = { ...(metadata && { metadata }), resource: new URL(resource.resource) }
  const clientMetadata = { redirect_uris: [redirectUrl], client_name: 'Agent', token_endpoint_auth_method: 'none' }
  const clientInformation = await registerClient(issuer, { ...known, clientMetadata })
  const started = await startAuthorization(issuer, { ...known, clientInformation, redirectUrl, scope: 'api:read', state: 's' })
  await page.goto(started.authorizationUrl.href)
  const back = new URL(await leave(page, 'button:has-text("Connect")')).searchParams
  t.is(back.get('iss'), issuer)
  const code = { authorizationCode: back.get('code') ?? '', codeVerifier: started.codeVerifier, redirectUri: redirectUrl, iss: issuer }
  const tokens = await exchangeAuthorization(issuer, { ...known, clientInformation, ...code })
  t.is(tokens.scope, 'api:read')
  const refreshed = await refreshAuthorization(issuer, { ...known, clientInformation, refreshToken: tokens.refresh_token ?? '' })
  const onRest = await fetch(`${issuer}/v1/projects/me`, { headers: { authorization: `Bearer ${refreshed.access_token}` } })
  t.is(onRest.status, 200)
}

/** Creates a sandbox with one call by oauth4webapi. */
async function sandboxAccess(t: ExecutionContext, issuer: string): Promise<void> {
  const insecure = { [oauth.allowInsecureRequests]: true }
  const url = new URL(issuer)
  const server = await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { ...insecure, algorithm: 'oauth2' }))
  const client = { client_id: 'anonymous-bootstrap' }
  t.is(server['anonymous_bootstrap_client_id'], client.client_id)
  const asked = await oauth.clientCredentialsGrantRequest(server, client, oauth.None(), { resource: `${issuer}/v1` }, insecure)
  const { access_token } = await oauth.processClientCredentialsResponse(server, client, asked)
  const me = await fetch(`${issuer}/v1/projects/me`, { headers: { authorization: `Bearer ${access_token}` } })
  t.like(await me.json(), { status: 'anonymous', name: 'sandbox' })
}

test('consent: an application gets a token, calls REST and loses it by revocation', async (t) => {
  await using folder = await temporaryFolder('consent')
  const port = await programPort()
  const options: DaemonOptions = { folder: folder.path, env: { POSTERN_HTTP_LISTEN: `127.0.0.1:${port}` } }
  await using daemon = await Daemon.start(options)
  const issuer = `http://localhost:${port}`
  await waitFor('the link of the owner is printed', () => linkIn(daemon.log) !== '')
  const first = await browser().newPage()
  await signIn(first, linkIn(daemon.log), 'olga@example.ch')
  await access(t, first, issuer, 'Reporter')
  await agentAccess(t, first, issuer)
  await sandboxAccess(t, issuer)

  const second = await browser().newPage({ javaScriptEnabled: false })
  await signIn(second, linkIn((await runCommand(options, 'login-link', 'olga@example.ch')).output))
  await access(t, second, issuer, 'Plain reporter')
  t.is((await daemon.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})

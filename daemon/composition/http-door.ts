/** The HTTP listener, composed: every operation that is served, who may call it, and within which limits. */
import { publicUrl } from '#config/settings/load.ts'
import { orRunToken } from '#core/access/run-token.ts'
import { bearerCheck } from '#core/oauth/tokens/bearers.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { bearerAuthentication, operatorAuthentication } from '../../admin-api/credentials/authentication.ts'
import { claimOperations } from '../../admin-api/pages/agents/claims.ts'
import { oauthOperations } from '../../admin-api/oauth/operations.ts'
import { operatorDecisionsOperation } from '../../admin-api/credentials/operator-decisions.ts'
import { operatorLinkOperation } from '../../admin-api/credentials/operator-link.ts'
import { operatorOperations } from '../../admin-api/operator/operations.ts'
import { allowingOperations, pageOperations } from '../../admin-api/pages/operations.ts'
import { nothingPage } from '../../admin-api/pages/layout/refusal-page.ts'
import { revealOperations } from '../../admin-api/pages/agents/reveal.ts'
import { flagCheck, restOperations } from '../../admin-api/rest/operations.ts'
import { AdminApi } from '../../admin-api/http/server.ts'
import { allowingCore } from './oauth-core.ts'
import { T, type Foundation, type Replacements, type Resolve } from './parts.ts'

export function httpDoor(resolve: Resolve, foundation: Foundation, replace: Replacements): AdminApi {
  const { config, metrics, version } = foundation
  const base = { database: resolve(T.Database), policies: resolve(T.Policies), clock: resolve(T.Clock) }
  const core = resolve(T.Core)
  const { operatorKey } = config
  const oauth = resolve(T.OAuth)
  const baseUrl = publicUrl(config, config.http.listen)
  const make = async (email: string) => oauth.urls.issuer + (await operatorLink(resolve(T.Database), resolve(T.Clock), email))
  return new AdminApi({
    listen: config.http.listen,
    baseUrl,
    version,
    operations: [
      ...restOperations(core),
      ...claimOperations({ people: resolve(T.People), claims: core.claims }),
      ...(operatorKey === null ? [] : operatorOperations(core, resolve(T.LoginGuard))),
      ...oauthOperations(oauth),
      ...pageOperations({ ...core, people: resolve(T.People) }),
      ...allowingOperations(allowingCore(oauth, { ...base, people: resolve(T.People), projects: resolve(T.Administration).projects })),
      ...revealOperations({ reveals: resolve(T.Publishable).reveals, origin: oauth.urls.issuer }),
      operatorLinkOperation({ token: foundation.operatorToken, make }),
      operatorDecisionsOperation({ token: foundation.operatorToken, watch: () => resolve(T.Decisions).watch() }),
      ...(replace.operations ?? []),
    ],
    errorRenderer: nothingPage,
    authenticateOperator: operatorKey === null ? undefined : operatorAuthentication(operatorKey),
    requireFlag: flagCheck(resolve(T.Policies)),
    authenticate: bearerAuthentication(
      orRunToken(resolve(T.Database), foundation.operatorToken, bearerCheck(resolve(T.ApiKeys), oauth.tokenCheck)),
    ),
    protectedResource: oauth.restResource,
    admission: resolve(T.Admission),
    events: resolve(T.Observer),
    health: resolve(T.Health),
    metrics,
    trustProxy: config.http.trustProxy,
    ...replace.http,
    limits: {
      maxConnections: config.http.maxConnections,
      maxConnectionsPerAddress: config.http.maxConnectionsPerAddress,
      ...replace.http?.limits,
    },
  })
}

/** Composes the HTTP listener: all operations, authentication and limits. */
import { formsUrl, isLoopback, publicUrl, submissionAddress } from '#config/settings/load.ts'
import { orRunToken } from '#core/access/run-token.ts'
import { bearerCheck } from '#core/oauth/tokens/bearers.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import { bearerAuthentication, operatorAuthentication } from '../../admin-api/credentials/authentication.ts'
import { claimOperations } from '../../admin-api/pages/agents/claims.ts'
import { oauthOperations } from '../../admin-api/oauth/oauth-operations.ts'
import { operatorDecisionsOperation } from '../../admin-api/operator/operator-decisions.ts'
import { operatorLogOperation } from '../../admin-api/operator/operator-log.ts'
import { operatorLinkOperation, operatorProofOperation } from '../../admin-api/operator/operator-link.ts'
import { doctorOperation } from '../../admin-api/operator/operator-doctor.ts'
import { sendmailOperation } from '../../admin-api/operator/sendmail.ts'
import { operatorBackupOperations, type OperatorBackupOptions } from '../../admin-api/operator/operator-backup.ts'
import { operatorOperations, type OperatorCore } from '../../admin-api/operator/operator-operations.ts'
import { allowingOperations, pageOperations } from '../../admin-api/pages/page-operations.ts'
import { nothingPage } from '../../admin-api/pages/layout/refusal-page.ts'
import { OperatorSessions } from '../../admin-api/pages/session/operator-sessions.ts'
import { personAuthentication, requireConfirmed, withSessions } from '../../admin-api/pages/session/session-access.ts'
import { formDraftOperations } from '../../admin-api/pages/messages/form-draft.ts'
import { hostedFormOperations } from '../../admin-api/pages/forms/hosted-forms.ts'
import { revealOperations } from '../../admin-api/pages/agents/reveal.ts'
import { flagCheck, restOperations, restTable } from '../../admin-api/rest/rest-operations.ts'
import { AdminApi, type AdminApiLimits, type AdminApiOptions } from '../../admin-api/http/http-server.ts'
import { graphqlOperations } from '../../admin-api/graphql/endpoint.ts'
import type { Operation } from '../../admin-api/operation/operation.ts'
import { dialectOperations } from '../../admin-api/vendors/dialect-operations.ts'
import { AgentEndpoint } from '../../admin-api/mcp/endpoint.ts'
import { resourcesOf } from '../../admin-api/mcp/resources/resources.ts'
import { toolsOf } from '../../admin-api/mcp/tools/tool.ts'
import { withProblem } from '#store/verify/verify.ts'
import { gently, verifyGently } from '../doctor/verify-gently.ts'
import { backupFrames } from '../backup/data-files.ts'
import { keyProblem } from '../process/master-key.ts'
import { memoryLimit } from '../doctor/process-check.ts'
import { systemSource } from '../observability/system-state.ts'
import { allowingCore } from './oauth-core.ts'
import type { HttpCore } from './composed.ts'
import type { Composition } from './parts.ts'

/** Memory for the daemon apart from large bodies. */
const otherMemoryBytes = 256 * 1_048_576

/** Returns limits of large bodies for the available memory. Processing a body takes several times its length. */
function bodyLimits(maxBodyBytes: number): Pick<AdminApiLimits, 'maxBodyMemoryBytes' | 'maxBodyWorkBytes'> {
  const spare = Math.max(0, memoryLimit() - otherMemoryBytes)
  return {
    maxBodyMemoryBytes: Math.max(maxBodyBytes, Math.min(128 * 1_048_576, spare / 4)),
    maxBodyWorkBytes: Math.min(32 * 1_048_576, spare / 32),
  }
}

const tools = toolsOf(restTable)
const resources = resourcesOf(restTable)

export function httpDoor(composition: Composition): AdminApi<HttpCore> {
  const { get, config, metrics, version, operatorToken: token, replace } = composition
  const { database, clock, policies } = get('core')
  const { operatorKey } = config
  const operators = new OperatorSessions(get('people'), config.operators)
  const hasOperator = operatorKey !== null || operators.areAny
  const oauth = get('oauth')
  const baseUrl = publicUrl(config, config.http.listen)
  const verifyKey = orRunToken(database, token, bearerCheck(get('apiKeys'), oauth.tokenCheck))
  const core: HttpCore = { ...operatorCore(composition), verifyKey }
  const make = async (email: string, next?: string) => oauth.urls.issuer + (await operatorLink(database, clock, email, next))
  return new AdminApi<HttpCore>({
    core,
    listen: config.http.listen,
    https: httpsOf(composition),
    baseUrl,
    version,
    operations: [
      ...withSessions([...restOperations, ...graphql(composition)], get('people')),
      ...get('agents').operations(),
      ...claimOperations({ people: get('people'), claims: core.claims }),
      ...(hasOperator ? operatorOperations : []),
      ...oauthOperations(oauth),
      ...pageOperations({
        ...core,
        rest: core,
        mcpUrl: oauth.urls.resources.mcp,
        submission: submissionAddress(config),
        people: get('people'),
        operators,
      }),
      ...allowingOperations(allowingCore(get)),
      ...hostedFormOperations({ forms: get('forms'), clock, formsUrl: formsUrl(config, config.http.listen), links: config.forms }),
      ...formDraftOperations(get('people').relyingParty.origin, clock),
      ...revealOperations({ reveals: get('publishable').reveals, origin: oauth.urls.issuer }),
      operatorProofOperation(token),
      operatorLinkOperation({ token, make }),
      sendmailOperation({ sendMessages: core.sendMessages, keys: get('apiKeys'), database, maxBodyBytes: config.http.maxBodyBytes }),
      ...operatorBackupOperations({ token, ...backupSource(composition) }),
      doctorOperation(token, get('doctor')),
      operatorDecisionsOperation({ token, watch: () => get('decisions').watch() }),
      operatorLogOperation({ token, linesWith: (text) => composition.recentLines?.with(text) ?? [] }),
      ...dialectOperations,
      ...(replace.operations ?? []),
    ],
    errorRenderer: nothingPage,
    authenticateOperator: hasOperator ? operatorAuthentication({ key: operatorKey, sessionOf: operators.idOf }) : undefined,
    authenticatePerson: personAuthentication(get('people')),
    requireFlag: flagCheck(policies),
    authenticate: bearerAuthentication(verifyKey),
    protectedResource: oauth.restResource,
    admission: get('admission'),
    fairness: get('fairness'),
    events: get('observer'),
    activity: get('activity'),
    health: get('health'),
    metrics,
    trustProxy: config.http.trustProxy,
    ...replace.http,
    limits: {
      ...bodyLimits(core.maxSendBodyBytes),
      maxConnections: config.http.maxConnections,
      maxConnectionsPerAddress: config.http.maxConnectionsPerAddress,
      ...replace.http?.limits,
    },
  })
}

function httpsOf({ config, certificate, get }: Composition): AdminApiOptions<never>['https'] {
  const { tlsListen: listen } = config.http
  if (listen === null) return undefined
  const { challenges } = get('certificates')
  return {
    listen,
    certificate,
    challengeOf: (name) => challenges.contextOf(name),
  }
}

/** Creates the GraphQL operations over the REST actions. */
const graphql = ({ get }: Composition): readonly Operation[] =>
  graphqlOperations({
    core: get('rest'),
    requireFlag: flagCheck(get('core').policies),
    requireConfirmed: requireConfirmed(get('people')),
    admission: get('admission'),
    events: get('observer'),
    monotonic: () => performance.now(),
  })

/** Creates the backup and verification operations for the command line. */
const backupSource = ({ kv, config, get, masterKey: keyInUse }: Composition): Omit<OperatorBackupOptions, 'token'> => ({
  frames: (since) => backupFrames(kv, config.dataDir, { since, at: get('clock').now(), rest: gently(get('clock')), key: config, keyInUse }),
  verify: async () => withProblem(await verifyGently(kv), await keyProblem(config, kv)),
})

function operatorCore({ get, config, version, kv }: Composition): OperatorCore {
  const system = systemSource({
    ...{ version, dataDir: config.dataDir, lowDiskBytes: config.store.lowDiskBytes },
    ...{ clock: get('clock'), database: get('database'), policies: get('core').policies, queue: get('queue') },
    ...{ health: get('healthRegistry'), readiness: get('health'), admission: get('admission') },
    waitingWrites: () => kv.waitingWrites,
  })
  return { ...get('rest'), logins: get('loginGuard'), system, doctor: get('doctor') }
}

/** Creates the MCP endpoint: the tools of all action tables, with authentication. */
export function agentEndpoint({ get, config, version }: Composition): AgentEndpoint {
  const { policies, clock } = get('core')
  const [observer, agentCalls] = [get('observer'), get('agentCalls')]
  const { urls, agentResource, tokenCheck } = get('oauth')
  const website = publicUrl(config, config.http.listen)
  const own = [website, urls.issuer, urls.resources.mcp, urls.resources.rest]
  return new AgentEndpoint({
    url: urls.resources.mcp,
    website,
    version,
    core: get('rest'),
    tools,
    resources,
    resource: agentResource,
    authenticate: (token) => tokenCheck.agentPrincipal(token),
    own: {
      origins: [...new Set(own.map((url) => new URL(url).origin))],
      hosts: isLoopback(config.http.listen.host) ? own.map((url) => new URL(url).hostname) : undefined,
    },
    requireFlag: flagCheck(policies),
    organizationOf: async (organizationId) => (await policies.of(organizationId)).organization,
    admission: get('admission'),
    events: {
      toolCalled(call) {
        observer.toolCalled(call)
        agentCalls.count(call.organizationId)
      },
      failed: (error, where) => observer.failed(error, where),
    },
    clock,
    maxBodyBytes: config.http.maxBodyBytes,
    maxBodySetting: 'POSTERN_HTTP_MAX_BODY_BYTES',
  })
}

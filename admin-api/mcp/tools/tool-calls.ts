/** Calls of tools: finds the tool, checks the caller's access and runs the action. */
import type { Principal } from '#core/access/principal/principal.ts'
import { closest } from '#config/texts/closest.ts'
import type { Clock } from '#core/clock.ts'
import { Refusal } from '#core/refusals.ts'
import { refusalOfDefect } from '#core/writes/store-refusal.ts'
import { InFlight } from '#core/submission/accept/in-flight.ts'
import type { RequireFlag } from '../../actions/invoke.ts'
import type { CallContext, Client } from '../../actions/action.ts'
import { toolScopes } from '../../actions/tool-binding.ts'
import type { Work } from '../../operation/operation.ts'
import type { RestCore } from '../../rest/rest-core.ts'
import { isSelected, type Selection } from './selection.ts'
import { scopesOfCore, type Tool, type ToolResult } from './tool.ts'
import { bounded, errorResult, goodResult, refusalOf, type CallResult } from './tool-results.ts'

/** One call for the log and the metrics, without its arguments. */
export interface ToolCall {
  readonly tool: string
  /** `ok`, the code of the refusal, or `canceled` if the client disconnected early. */
  readonly outcome: string
  readonly milliseconds: number
  readonly organizationId: string
  readonly projectId: string
  readonly grantId: string
  readonly requestId: string
}

/** Events of the MCP endpoint. Implementations must not throw. */
export interface AgentEvents {
  toolCalled(call: ToolCall): void
  /** Reports a defect, which is to be logged with its stack. */
  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void
}

/** The caller of a request with its connection. */
export interface Caller {
  readonly principal: Principal
  readonly client: Client
  readonly selection: Selection
  /** Protocol version in the request, or an empty text. */
  readonly protocolVersion: string
  /** Authenticates the token again. Throws `unauthorized` if it is no longer valid. */
  readonly authenticateAgain: () => Promise<Principal>
}

/** Context of a running call. The signal is created on first use, since most calls do not read it. */
export type Course = Pick<CallContext, 'signal' | 'continues'>

export interface ToolCallsOptions {
  readonly core: RestCore
  readonly tools: readonly Tool[]
  readonly requireFlag: RequireFlag
  readonly admission: { check(work: Work): void }
  readonly events: AgentEvents
  readonly clock: Clock
}

/** First revision whose clients request more scopes from the user after a 403 with a challenge. */
const stepUpVersion = '2025-11-25'
/** After a reading call of this length, the token is authenticated again before the result is returned. */
const longCallMs = 1000

export class ToolCalls {
  readonly #options: ToolCallsOptions
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #inFlight = new InFlight()

  constructor(options: ToolCallsOptions) {
    this.#options = options
    this.#byName = new Map(options.tools.map((tool) => [tool.binding.name, tool]))
  }

  /** Throws `insufficient_scope` if the client can request the scope from its user. Other refusals are results of the call. */
  async requireReachable(caller: Caller, name: string): Promise<void> {
    const tool = this.#byName.get(name)
    const { principal, protocolVersion } = caller
    if (!tool || !lacksScope(tool, principal)) return
    const canStepUp = principal.holder?.kind === 'user' && tool.level <= (principal.agent?.mostLevel ?? -1)
    if (!canStepUp || protocolVersion < stepUpVersion || !isSelected(tool, caller.selection)) return
    try {
      if (tool.feature !== undefined) await this.#options.requireFlag(principal, tool.feature)
    } catch (error) {
      if (error instanceof Refusal) return // the call returns this refusal
      throw error
    }
    throw missingScope(tool, principal)
  }

  /** Resolves when all calls in flight at the time of the call have ended. */
  async settled(): Promise<void> {
    await this.#inFlight.settled()
  }

  /** Returns undefined if no tool has the name. */
  async call(caller: Caller, name: string, given: unknown, course: Course): Promise<CallResult | undefined> {
    const tool = this.#byName.get(name)
    if (!tool) return undefined
    const end = this.#inFlight.begin()
    try {
      return await this.#call(tool, caller, given, course)
    } finally {
      end()
    }
  }

  /** Returns the result of a tool for a resource; counts as a call. Throws `Refusal`. */
  read(caller: Caller, tool: Tool, given: unknown, course: Course): Promise<ToolResult> {
    return this.#noted(tool, caller, course, async () => bounded(await this.#run(tool, caller, given, course)))
  }

  async #call(tool: Tool, caller: Caller, given: unknown, course: Course): Promise<CallResult> {
    try {
      return await this.#noted(tool, caller, course, async () => {
        if (!isSelected(tool, caller.selection)) throw notSelected(tool, caller.principal)
        return goodResult(tool, await this.#run(tool, caller, given, course), caller.protocolVersion)
      })
    } catch (error) {
      if (error instanceof Refusal) return errorResult(error)
      throw error
    }
  }

  /** Runs `work` and records it in the log and the metrics. Throws only `Refusal`. */
  async #noted<T>(tool: Tool, caller: Caller, course: Course, work: () => Promise<T>): Promise<T> {
    const { events, clock } = this.#options
    const { principal, client } = caller
    const { name } = tool.binding
    const startedAt = clock.monotonic()
    const note = (outcome: string): void => {
      const { organizationId, projectId, credentialId: grantId } = principal
      const facts = { tool: name, outcome, organizationId, projectId, grantId, requestId: client.requestId }
      events.toolCalled({ ...facts, milliseconds: clock.monotonic() - startedAt })
    }
    try {
      const result = await work()
      if (tool.readOnly && clock.monotonic() - startedAt > longCallMs) await caller.authenticateAgain()
      note('ok')
      return result
    } catch (error) {
      const known = refusalOf(error)
      const isCanceled = known === undefined && course.signal.aborted
      const found = known ?? (isCanceled ? interrupted() : this.#broke(error, tool, client.requestId))
      const refusal = inScopesOfAgents(found, tool, principal)
      note(isCanceled ? 'canceled' : refusal.code)
      throw refusal
    }
  }

  /** Returns whether the tool of this name only reads. */
  isReading(name: string): boolean {
    return this.#byName.get(name)?.readOnly ?? false
  }

  /** Returns the closest tool name, if one is similar. */
  near(name: string): string | undefined {
    return closest(name, [...this.#byName.keys()])
  }

  #run(tool: Tool, { principal, client }: Caller, given: unknown, course: Course): Promise<ToolResult> {
    if (lacksScope(tool, principal)) throw missingScope(tool, principal)
    if (!tool.readOnly) this.#options.admission.check(tool.work)
    const context: CallContext<Principal, RestCore> = {
      ...{ core: this.#options.core, principal, client, continues: course.continues },
      get signal() {
        return course.signal
      },
    }
    return tool.call(context, given, this.#options.requireFlag)
  }

  #broke(error: unknown, { binding: { name } }: Tool, requestId: string): Refusal {
    this.#options.events.failed(error, { requestId, operationId: name })
    return refusalOfDefect(error, requestId, 'call')
  }
}

const lacksScope = ({ level }: Tool, { agent }: Principal): boolean => level > (agent?.level ?? -1)

/** Replaces a scope of the core by the agent scope in a refusal. */
function inScopesOfAgents(refusal: Refusal, tool: Tool, principal: Principal): Refusal {
  if (refusal.code !== 'insufficient_scope') return refusal
  const scope = scopesOfCore[String(refusal.details?.['required_scope'])]
  return scope ? missingScope({ ...tool, scope, level: toolScopes.indexOf(scope) }, principal) : refusal
}

/** Returns the refusal for a missing scope, with the way for this holder to get it. */
function missingScope({ scope, level, binding: { name } }: Tool, { holder, agent }: Principal): Refusal {
  const has = toolScopes[agent?.level ?? -1] ?? 'none'
  const what = `${name} requires the scope ${scope}; this token has ${has}.`
  const details = { required_scope: scope }
  if (holder?.kind === 'anonymous')
    return new Refusal('insufficient_scope', `${what} Ask the user to claim this project: account_claim(email).`, {
      details,
      nextAction: 'call account_claim',
    })
  if (level > (agent?.mostLevel ?? -1))
    return new Refusal(
      'insufficient_scope',
      `${what} The role of this user does not allow this scope. Ask an administrator of the organization.`,
      {
        details,
        nextAction: 'ask_administrator',
      },
    )
  return new Refusal('insufficient_scope', `${what} Ask the user to connect again and to allow ${scope}.`, {
    details,
    nextAction: 'reconnect_with_scope',
  })
}

function notSelected({ binding: { name, toolset } }: Tool, { agent }: Principal): Refusal {
  if (agent?.toolsets?.includes(toolset) === false)
    return new Refusal('not_found', `The user did not allow ${name}. Ask the user to connect again and to allow the toolset ${toolset}.`, {
      nextAction: 'reconnect_with_toolset',
    })
  const message = `This connection does not include ${name}. Connect without readonly, and with the toolset ${toolset}.`
  return new Refusal('not_found', message, { nextAction: 'connect_with_toolset' })
}

const interrupted = (): Refusal =>
  new Refusal('overloaded', 'The call was interrupted. Repeat it in a few seconds.', { retryAfterSeconds: 2 })

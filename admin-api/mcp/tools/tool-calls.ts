/** Calls of tools: which tool is meant, whether the caller may call it, and what comes of it. */
import type { Principal } from '#core/access/principal/principal.ts'
import { closest } from '#config/words/closest.ts'
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

/** One call, for the log and the metrics. Arguments are never part of it. */
export interface ToolCall {
  readonly tool: string
  /** `ok`, the code of the refusal, or `canceled` where the client did not wait for the end. */
  readonly outcome: string
  readonly milliseconds: number
  readonly organizationId: string
  readonly projectId: string
  readonly grantId: string
  readonly requestId: string
}

/** What happens at the MCP endpoint; implementations must not throw. */
export interface AgentEvents {
  toolCalled(call: ToolCall): void
  /** Something broke that is not a refusal: to be logged with its stack. */
  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void
}

/** Who calls, and how. */
export interface Caller {
  readonly principal: Principal
  readonly client: Client
  readonly selection: Selection
  /** Of the protocol, as the request names it; empty where it does not. */
  readonly protocolVersion: string
  /** Finds out again who holds the token; throws `unauthorized` when it ended. */
  readonly authenticateAgain: () => Promise<Principal>
}

/** How a call goes on. Most calls never look at their signal, which is made when one does. */
export type Course = Pick<CallContext, 'signal' | 'continues'>

export interface ToolCallsOptions {
  readonly core: RestCore
  readonly tools: readonly Tool[]
  readonly requireFlag: RequireFlag
  readonly admission: { check(work: Work): void }
  readonly events: AgentEvents
  readonly clock: Clock
}

/** Clients of these revisions and later ask their user for more scopes when a request is refused with 403 and a challenge. */
const stepUpVersion = '2025-11-25'
/** Results of calls that took longer are given to tokens alone that are still good. */
const longCallMs = 1000

export class ToolCalls {
  readonly #options: ToolCallsOptions
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #inFlight = new InFlight()

  constructor(options: ToolCallsOptions) {
    this.#options = options
    this.#byName = new Map(options.tools.map((tool) => [tool.binding.name, tool]))
  }

  /** Throws `insufficient_scope` for a call that the client can ask its user for; other refusals are results. */
  async requireReachable(caller: Caller, name: string): Promise<void> {
    const tool = this.#byName.get(name)
    const { principal, protocolVersion } = caller
    if (!tool || !lacksScope(tool, principal)) return
    const canStepUp = principal.holder?.kind === 'user' && tool.level <= (principal.agent?.mostLevel ?? -1)
    if (!canStepUp || protocolVersion < stepUpVersion || !isSelected(tool, caller.selection)) return
    try {
      if (tool.feature !== undefined) await this.#options.requireFlag(principal, tool.feature)
    } catch (error) {
      if (error instanceof Refusal) return // the call itself says so
      throw error
    }
    throw missingScope(tool, principal)
  }

  /** Resolves when every call that is under way now has ended. */
  async settled(): Promise<void> {
    await this.#inFlight.settled()
  }

  /** Undefined for a name that no tool has. */
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

  /** What a resource is made of; counts as a call. Throws `Refusal`. */
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

  /** With a line in the log and a metric. Throws nothing but `Refusal`. */
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

  /** Whether a tool of this name changes nothing. */
  isReading(name: string): boolean {
    return this.#byName.get(name)?.readOnly ?? false
  }

  /** The name that was meant, if one is close. */
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

/** The core names its own scopes; agents are told of theirs. */
function inScopesOfAgents(refusal: Refusal, tool: Tool, principal: Principal): Refusal {
  if (refusal.code !== 'insufficient_scope') return refusal
  const scope = scopesOfCore[String(refusal.details?.['required_scope'])]
  return scope ? missingScope({ ...tool, scope, level: toolScopes.indexOf(scope) }, principal) : refusal
}

/** Says how this holder can get the scope. */
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
    return new Refusal('insufficient_scope', `${what} The role of this user does not allow it; ask an administrator of the organization.`, {
      details,
      nextAction: 'ask_administrator',
    })
  return new Refusal('insufficient_scope', `${what} Ask the user to connect again and to allow ${scope}.`, {
    details,
    nextAction: 'reconnect_with_scope',
  })
}

function notSelected({ binding: { name, toolset } }: Tool, { agent }: Principal): Refusal {
  if (agent?.toolsets?.includes(toolset) === false)
    return new Refusal(
      'not_found',
      `The user allowed other tools than ${name}. Ask the user to connect again and to allow the toolset ${toolset}.`,
      {
        nextAction: 'reconnect_with_toolset',
      },
    )
  const message = `This connection is narrowed and leaves ${name} out; connect without readonly, and with the toolset ${toolset}.`
  return new Refusal('not_found', message, { nextAction: 'connect_with_toolset' })
}

const interrupted = (): Refusal =>
  new Refusal('overloaded', 'The call was ended before it was done; repeat it in a few seconds.', { retryAfterSeconds: 2 })

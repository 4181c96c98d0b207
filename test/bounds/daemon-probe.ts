/**
 * Loaded into a daemon before its code (`--import`). On request, measures the processor time of the process and the longest time that its
 * main thread ran without a turn of the event loop, and reports the served operations. It measures processor time instead of clock time, so
 * that a busy machine does not change the result.
 */
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { isMainThread } from 'node:worker_threads'
import * as z from 'zod'
import { isStreamed } from '../../admin-api/bodies/body-stream.ts'
import { maxBodyBytesOf, type Operation } from '../../admin-api/operation/operation.ts'
import { AdminApi } from '../../admin-api/http/http-server.ts'

/** Variable with the path of the control socket. */
export const probeVariable = 'BOUNDS_PROBE'

/** An operation to attack. Schemas are JSON Schema. */
export interface Served {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly scope: string
  readonly maxBodyBytes: number
  /** The operation may delay its response by design. */
  readonly waits: boolean
  /** Media types of a streamed body. */
  readonly streams?: readonly string[]
  readonly body?: Schema
  readonly query?: Schema
  readonly example?: unknown
  /** Maximum body size with a publishable key, if one is accepted. */
  readonly publishableBytes?: number
}

/** The used part of JSON Schema. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly additionalProperties?: Schema | boolean
  readonly maxLength?: number
  readonly maxItems?: number
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

/** Milliseconds of processor time. */
export interface Cost {
  /** Of all threads of the process. */
  readonly all: number
  /** Longest uninterrupted run of the main thread. */
  readonly piece: number
}

export type Order = 'operations' | 'begin' | 'end' | 'settle'

const sampleMs = 4

class Meter {
  #timer: NodeJS.Timeout | undefined
  #main = process.threadCpuUsage()
  #all = process.cpuUsage()
  #piece = 0

  begin(): void {
    this.#piece = 0
    this.#all = process.cpuUsage()
    this.#main = process.threadCpuUsage()
    this.#timer ??= setInterval(() => this.#sample(), sampleMs)
  }

  end(): Cost {
    this.#sample()
    clearInterval(this.#timer)
    this.#timer = undefined
    const { user, system } = process.cpuUsage(this.#all)
    return { all: (user + system) / 1000, piece: this.#piece / 1000 }
  }

  /** At least one turn of the event loop passes between two timers, so the duration of a turn is part of one difference. */
  #sample(): void {
    const now = process.threadCpuUsage()
    this.#piece = Math.max(this.#piece, now.user + now.system - this.#main.user - this.#main.system)
    this.#main = now
  }
}

/** Resolves when the process is idle: nearly no processor time in three successive samples. */
async function settled(): Promise<void> {
  const lookMs = 15
  for (let quiet = 0, looks = 0; quiet < 3 && looks < 4000; looks++) {
    const before = process.cpuUsage()
    await new Promise((resolve) => setTimeout(resolve, lookMs))
    const { user, system } = process.cpuUsage(before)
    quiet = user + system < 2500 ? quiet + 1 : 0
  }
}

function described<C>(operation: Operation<C>, core: C): Served {
  const { operationId, method, path, scope, waits = false, body, query, examples, credentials = [] } = operation
  const limits = credentials.flatMap((each) => (each === 'bearer' ? [] : (each.limits ?? []))).at(0)
  const schemaOf = (schema: z.ZodType): Schema =>
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Schema
  return {
    ...{
      operationId,
      method,
      path,
      scope,
      maxBodyBytes: maxBodyBytesOf(operation, core),
      waits,
      query: schemaOf(query),
      example: examples.body,
    },
    ...(isStreamed(body) ? { streams: Object.keys(body.mediaTypes) } : body && { body: schemaOf(body) }),
    ...(limits && { publishableBytes: limits.maxBodyBytes }),
  }
}

function serve(path: string): void {
  let operations: readonly Served[] = []
  const listen = AdminApi.prototype.listen
  AdminApi.prototype.listen = function (this: AdminApi) {
    operations = this.operations.map((operation) => described(operation, this.core))
    return listen.call(this)
  }
  const meter = new Meter()
  const obey = async (order: Order): Promise<unknown> => {
    if (order === 'operations') return operations
    if (order === 'settle') return settled()
    if (order === 'end') return meter.end()
    return meter.begin()
  }
  const answer = (socket: Socket): void => {
    createInterface(socket).on('line', (order) => {
      void obey(order as Order).then((result) => socket.write(`${JSON.stringify(result ?? null)}\n`))
    })
    socket.on('error', () => socket.destroy())
  }
  createServer(answer).listen(path).unref()
}

const path = process.env[probeVariable]
if (isMainThread && path !== undefined) serve(path)

/** A few connections for reads. Each has several queries in flight. */
import type { Client, QueryResultRow } from 'pg'
import { StoreFailure } from '../kv.ts'
import type { Servers } from './servers.ts'

interface Statement {
  /** Name of the prepared statement. */
  readonly name: string
  readonly text: string
}

interface Connection {
  client: Promise<Client> | undefined
  inFlight: number
}

export class Readers {
  readonly #servers: Servers
  readonly #connections: readonly Connection[]
  #closed = false

  constructor(servers: Servers, count: number) {
    this.#servers = servers
    this.#connections = Array.from({ length: count }, () => ({ client: undefined, inFlight: 0 }))
  }

  /** Repeats the query on another connection while the database is unreachable. Throws `StoreFailure`. */
  async query<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    if (this.#closed) throw new StoreFailure('The store is closed.')
    try {
      return await this.#servers.patiently(
        () => this.#ask<Row>(statement, values),
        () => this.#closed,
      )
    } catch (error) {
      if (error instanceof StoreFailure) throw error
      throw new StoreFailure(`The store could not be read: ${(error as Error).message}`, { cause: error })
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#connections.map(async ({ client }) => (await client?.catch(() => undefined))?.end()))
  }

  async #ask<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    const connection = this.#connections.reduce((best, one) => (one.inFlight < best.inFlight ? one : best))
    connection.inFlight++
    const connecting = (connection.client ??= this.#servers.connect('postern reads'))
    try {
      const { rows } = await (await connecting).query<Row>({ ...statement, values: [...values] })
      return rows
    } catch (error) {
      if (connection.client === connecting) connection.client = undefined
      void connecting.then(
        (client) => client.end(),
        () => undefined,
      )
      throw error
    } finally {
      connection.inFlight--
    }
  }
}

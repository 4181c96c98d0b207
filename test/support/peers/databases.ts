/** Databases on a PostgreSQL server that is already running. */
import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

/** Databases of the run, which modules reuse: creating one writes 300 files, emptying one a tenth of that. */
const pool = 'CREATE TABLE test_databases (name text PRIMARY KEY, is_free boolean NOT NULL)'
const take = `UPDATE test_databases SET is_free = false
  WHERE name = (SELECT name FROM test_databases WHERE is_free LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING name`
/** Ends the sessions of killed processes, and removes everything that a test may have left in the database. */
const empty = `DO $$ DECLARE present text; BEGIN
  PERFORM pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
  DELETE FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database());
  FOR present IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', present);
  END LOOP;
  CREATE SCHEMA public AUTHORIZATION pg_database_owner;
  GRANT USAGE ON SCHEMA public TO PUBLIC;
END $$`

export class Databases {
  readonly port: number

  constructor(port: number) {
    this.port = port
  }

  address(database = 'postgres'): string {
    return `postgresql://postern@127.0.0.1:${this.port}/${database}`
  }

  /** Returns the address of an empty database. */
  async database(): Promise<string> {
    const name = `test_${randomBytes(8).toString('hex')}`
    await this.query(`CREATE DATABASE ${name} TEMPLATE template0`)
    return this.address(name)
  }

  async query(text: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.address(database) })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(text)).rows
    } finally {
      await client.end()
    }
  }
}

/** Databases on the server of the run. After disposal, other modules get them, emptied. */
export class SharedDatabases extends Databases implements AsyncDisposable {
  readonly #taken: string[] = []

  /** Prepares a new server. */
  static async prepare(server: Databases): Promise<void> {
    await server.query(pool)
  }

  override async database(): Promise<string> {
    const [free] = await this.query(take)
    if (!free) return this.#create()
    const name = String(free['name'])
    this.#taken.push(name)
    await this.query(empty, name)
    return this.address(name)
  }

  async #create(): Promise<string> {
    const address = await super.database()
    const name = new URL(address).pathname.slice(1)
    await this.query(`INSERT INTO test_databases VALUES ('${name}', false)`)
    this.#taken.push(name)
    return address
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.query(`UPDATE test_databases SET is_free = true WHERE name = ANY('{${this.#taken.join(',')}}')`)
  }
}

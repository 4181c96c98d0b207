/** A program that starts PostgreSQL, prints the id of its process and waits for ever, for the tests of the services. */
import { Postgresql } from '../../support/peers/postgresql.ts'

const server = await Postgresql.start()
process.stdout.write(`${String(server.pid)}\n`)
setInterval(() => {}, 2 ** 30)

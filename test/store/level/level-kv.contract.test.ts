/** The contract of the ordered map, for the embedded store: with the usual options. */
import test from '#test'
import { levelContract } from '../../contracts/level-contract.ts'

levelContract(test)

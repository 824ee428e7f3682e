// SPDX-License-Identifier: GPL-2.0-only
/*
 * P-states for the four CPUs of the lab: domain 0 is CPUs 0-1 with 400…1800 MHz, domain 1 is CPUs
 * 2-3 with 400…1400 MHz (the LITTLE and big ranges of an RK3399, swapped so that CPU 0 is fast).
 * A P-state is a byte written to port 0x5f0, where QEMU's isa-debugcon listens. 0x402 is taken by
 * the firmware. `lab ports` reads the bytes' meaning from the _PSS packages below.
 */
DefinitionBlock ("ssdt.aml", "SSDT", 1, "WAKGOV", "CPUFREQ", 1)
{
  External (\_SB.CPUS.C000, DeviceObj)
  External (\_SB.CPUS.C001, DeviceObj)
  External (\_SB.CPUS.C002, DeviceObj)
  External (\_SB.CPUS.C003, DeviceObj)
  Scope (\_SB.CPUS.C000) {
    Name (_PCT, Package(){ ResourceTemplate(){Register(SystemIO,8,0,0x5f0)}, ResourceTemplate(){Register(SystemIO,8,0,0x5f0)} })
    Name (_PSS, Package(){
      Package(){1800,4000,10,10,0x05,0x05}, Package(){1400,3000,10,10,0x04,0x04}, Package(){1000,2000,10,10,0x03,0x03}, Package(){600,1000,10,10,0x02,0x02}, Package(){400,600,10,10,0x01,0x01} })
    Name (_PPC, 0)
    Name (_PSD, Package(){ Package(){5,0,0,0xFC,2} })
  }
  Scope (\_SB.CPUS.C001) {
    Name (_PCT, Package(){ ResourceTemplate(){Register(SystemIO,8,0,0x5f0)}, ResourceTemplate(){Register(SystemIO,8,0,0x5f0)} })
    Name (_PSS, Package(){
      Package(){1800,4000,10,10,0x05,0x05}, Package(){1400,3000,10,10,0x04,0x04}, Package(){1000,2000,10,10,0x03,0x03}, Package(){600,1000,10,10,0x02,0x02}, Package(){400,600,10,10,0x01,0x01} })
    Name (_PPC, 0)
    Name (_PSD, Package(){ Package(){5,0,0,0xFC,2} })
  }
  Scope (\_SB.CPUS.C002) {
    Name (_PCT, Package(){ ResourceTemplate(){Register(SystemIO,8,0,0x5f0)}, ResourceTemplate(){Register(SystemIO,8,0,0x5f0)} })
    Name (_PSS, Package(){
      Package(){1400,4000,10,10,0x14,0x14}, Package(){1000,2000,10,10,0x13,0x13}, Package(){600,1000,10,10,0x12,0x12}, Package(){400,600,10,10,0x11,0x11} })
    Name (_PPC, 0)
    Name (_PSD, Package(){ Package(){5,0,1,0xFC,2} })
  }
  Scope (\_SB.CPUS.C003) {
    Name (_PCT, Package(){ ResourceTemplate(){Register(SystemIO,8,0,0x5f0)}, ResourceTemplate(){Register(SystemIO,8,0,0x5f0)} })
    Name (_PSS, Package(){
      Package(){1400,4000,10,10,0x14,0x14}, Package(){1000,2000,10,10,0x13,0x13}, Package(){600,1000,10,10,0x12,0x12}, Package(){400,600,10,10,0x11,0x11} })
    Name (_PPC, 0)
    Name (_PSD, Package(){ Package(){5,0,1,0xFC,2} })
  }
}

// Paced Start §5.2 in ns-3: 102 sources and 102 sinks on each side of one 20 Mbit/s link; a baseline of `make bench`.
// usage: dumbbell FLOWS_CSV          (id,start_s,src_router,src_idx,dst_router,dst_idx,size_pkts)
// prints: flows, packets of data received, simulated seconds
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint32_t HOSTS = 102;
constexpr uint32_t PACKET_BYTES = 1000;
constexpr uint16_t PORT = 5000;

struct Flow {
	double start_s;
	std::array<uint32_t, 2> from; // side, host
	std::array<uint32_t, 2> to;
	uint32_t packets;
};

uint64_t awaited_bytes = 0;
uint64_t received_bytes = 0;

std::vector<Flow> read(const char *path)
{
	std::ifstream file(path);
	std::string line;
	std::vector<Flow> flows;
	std::getline(file, line);
	while (std::getline(file, line)) {
		std::stringstream cells(line);
		std::array<std::string, 7> cell;
		for (auto &text : cell)
			std::getline(cells, text, ',');
		auto number = [&](size_t i) { return static_cast<uint32_t>(std::stoul(cell[i])); };
		flows.push_back({std::stod(cell[1]), {number(2), number(3)}, {number(4), number(5)}, number(6)});
	}
	return flows;
}

void on_received(Ptr<const Packet> packet, const Address &)
{
	received_bytes += packet->GetSize();
	if (received_bytes == awaited_bytes)
		Simulator::Stop();
}

void on_connected(uint32_t bytes, Ptr<Socket> socket)
{
	socket->Send(Create<Packet>(bytes));
}

void open(Ptr<Node> node, InetSocketAddress to, uint32_t bytes)
{
	Ptr<Socket> socket = Socket::CreateSocket(node, TcpSocketFactory::GetTypeId());
	socket->SetConnectCallback(MakeBoundCallback(&on_connected, bytes),
				   MakeNullCallback<void, Ptr<Socket>>());
	socket->Bind();
	socket->Connect(to);
}

PointToPointHelper link(const char *rate, const char *delay, const char *limit)
{
	PointToPointHelper helper;
	helper.SetDeviceAttribute("DataRate", StringValue(rate));
	helper.SetChannelAttribute("Delay", StringValue(delay));
	helper.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(limit)));
	return helper;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::cerr << "usage: dumbbell FLOWS_CSV\n";
		return 2;
	}
	const std::vector<Flow> flows = read(argv[1]);
	if (flows.empty()) {
		std::cerr << argv[1] << ": cannot be read, or lists no flows\n";
		return 2;
	}

	Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpLinuxReno::GetTypeId()));
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PACKET_BYTES));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8'000'000));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8'000'000));
	Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

	InternetStackHelper stack;
	stack.SetRoutingHelper(Ipv4NixVectorHelper());
	// The queues are the devices' own.
	TrafficControlHelper control;
	Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.252");
	auto join = [&](PointToPointHelper &helper, Ptr<Node> a, Ptr<Node> b) {
		NetDeviceContainer devices = helper.Install(a, b);
		Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
		control.Uninstall(devices);
		addresses.NewNetwork();
		return interfaces.GetAddress(0);
	};

	NodeContainer routers(2);
	stack.Install(routers);
	PointToPointHelper bottleneck = link("20Mbps", "20ms", "100p");
	PointToPointHelper edge = link("50Mbps", "0ms", "1000000p");
	join(bottleneck, routers.Get(0), routers.Get(1));
	std::array<NodeContainer, 2> sources, sinks;
	std::array<std::vector<Ipv4Address>, 2> sink_addresses;
	PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
	for (uint32_t side = 0; side < 2; ++side) {
		sources[side].Create(HOSTS);
		sinks[side].Create(HOSTS);
		stack.Install(sources[side]);
		stack.Install(sinks[side]);
		for (uint32_t host = 0; host < HOSTS; ++host) {
			join(edge, sources[side].Get(host), routers.Get(side));
			sink_addresses[side].push_back(join(edge, sinks[side].Get(host), routers.Get(side)));
			ApplicationContainer application = sink.Install(sinks[side].Get(host));
			application.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&on_received));
		}
	}

	for (const Flow &flow : flows) {
		const InetSocketAddress to(sink_addresses[flow.to[0]][flow.to[1]], PORT);
		const uint32_t bytes = flow.packets * PACKET_BYTES;
		Simulator::Schedule(Seconds(flow.start_s), &open, sources[flow.from[0]].Get(flow.from[1]), to, bytes);
		awaited_bytes += bytes;
	}
	Simulator::Run();
	std::cout << flows.size() << ' ' << received_bytes / PACKET_BYTES << ' ' << Simulator::Now().GetSeconds() << '\n';
	Simulator::Destroy();
	return EXIT_SUCCESS;
}

// Receives what martini pushes, with the receiver of OpenTelemetry's collector and with Pyroscope's own messages, and prints it:
// a line for each profile, with the number of its samples and the sum of their values.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"connectrpc.com/connect"
	"github.com/google/pprof/profile"
	"github.com/google/uuid"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

type pusher struct{}

func (pusher) Push(_ context.Context, r *connect.Request[pushv1.PushRequest]) (*connect.Response[pushv1.PushResponse], error) {
	for _, series := range r.Msg.Series {
		labels := map[string]string{}
		for _, label := range series.Labels {
			labels[label.Name] = label.Value
		}
		for _, sample := range series.Samples {
			if _, err := uuid.Parse(sample.ID); err != nil {
				return nil, err
			}
			p, err := profile.ParseData(sample.RawProfile)
			if err != nil {
				return nil, err
			}
			for i, kind := range p.SampleType {
				var sum int64
				for _, s := range p.Sample {
					sum += s.Value[i]
				}
				fmt.Println("pyroscope", labels["service_name"], labels["__name__"], kind.Type, sum)
			}
		}
	}
	return connect.NewResponse(&pushv1.PushResponse{}), nil
}

func main() {
	collector, pyroscope := os.Args[1], os.Args[2]
	f := otlpreceiver.NewFactory()
	cfg := f.CreateDefaultConfig().(*otlpreceiver.Config)
	next, _ := xconsumer.NewProfiles(func(_ context.Context, p pprofile.Profiles) error {
		d := p.Dictionary()
		for _, rp := range p.ResourceProfiles().All() {
			service, _ := rp.Resource().Attributes().Get("service.name")
			for _, sp := range rp.ScopeProfiles().All() {
				for _, pr := range sp.Profiles().All() {
					t := pr.SampleType()
					var sum int64
					for _, s := range pr.Samples().All() {
						for _, v := range s.Values().All() {
							sum += v
						}
					}
					fmt.Println("otlp", service.Str(), d.StringTable().At(int(t.TypeStrindex())), sum)
				}
			}
		}
		return nil
	})
	if err := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": collector}}}).Unmarshal(cfg); err != nil {
		panic(err)
	}
	r, err := f.(xreceiver.Factory).CreateProfiles(context.Background(), receivertest.NewNopSettings(f.Type()), cfg, next)
	if err != nil {
		panic(err)
	}
	if err := r.Start(context.Background(), componenttest.NewNopHost()); err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle(pushv1connect.NewPusherServiceHandler(pusher{}))
	fmt.Println("ready")
	panic(http.ListenAndServe(pyroscope, mux))
}
